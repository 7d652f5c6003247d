// SPDX-License-Identifier: Apache-2.0
// A stranger in each room, against the real server: a song that can be heard, a head with the labels
// of `ubique run`, a sudoku that is valid, code that goes on, a picture with its map.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launch } from '../../chromium.mjs';
import { agreement, labelsPath, readLabelMap, scanPath } from '../../page/browser';
import { isSolutionOf, parseSudoku } from '../../../studio/src/puzzles/sudoku';
import { StudioServer, canServe } from './server';
import { picture, visit } from './visit';

const steps = 2; // of diffusion: the song of a fresh network is noise however many there are
const seconds = 4;

interface Heard {
  seconds: number;
  channels: number;
  loudness: number; // root of the mean square
  isFinite: boolean;
}

/** The sound at that address as the browser decodes it. */
function hear(page: Page, address: string): Promise<Heard> {
  return page.evaluate(async (url) => {
    const bytes = await (await fetch(url)).arrayBuffer();
    const sound = await new OfflineAudioContext(2, 1, 48_000).decodeAudioData(bytes);
    const samples = sound.getChannelData(0);
    let sum = 0;
    for (const sample of samples) sum += sample * sample;
    return {
      seconds: sound.duration,
      channels: sound.numberOfChannels,
      loudness: Math.sqrt(sum / samples.length),
      isFinite: Number.isFinite(sum),
    };
  }, address);
}

async function setNumber(page: Page, label: string, value: number): Promise<void> {
  await page.getByLabel(label, { exact: true }).fill(String(value));
}

describe.skipIf(!canServe())('a stranger', () => {
  const server = new StudioServer();
  let browser: Browser;
  beforeAll(async () => {
    [browser] = await Promise.all([launch('webgl'), server.start()]);
    await server.addModels();
  });
  afterAll(async () => {
    await browser?.close();
    await server.end();
  });

  test('makes a song, hears it, paints over a part of it and deletes it', async () => {
    const { page, complaints } = await visit(browser, `${server.address}/#/music`);
    await page.getByRole('button', { name: 'Use the example' }).click();
    await page.getByLabel('Words to sing').fill('do re mi');
    await page.getByRole('button', { name: '[chorus]' }).click();
    expect(await page.getByLabel('Words to sing').inputValue()).toBe('do re mi\n\n[chorus]\n');
    await setNumber(page, 'Seconds', seconds);
    await page.getByText('All settings').click();
    await setNumber(page, 'Steps', steps);
    await page.getByRole('button', { name: 'Make the song' }).click();
    const songs = page.getByRole('region', { name: 'Your songs' });
    await songs
      .getByRole('button', { name: /^Play / })
      .first()
      .waitFor({ timeout: 120_000 });

    const [item] = (
      await server.ask<{ items: { files: { name: string; url: string }[] }[] }>(
        'GET',
        'api/library?kind=song',
      )
    ).items;
    const sound = item.files.find(({ name }) => name.endsWith('.wav'));
    const heard = await hear(page, sound?.url ?? '');
    expect(heard.seconds).toBeGreaterThan(seconds - 0.5);
    expect(heard.seconds).toBeLessThan(seconds + 0.5);
    expect(heard).toMatchObject({ channels: 2, isFinite: true });
    expect(heard.loudness).toBeGreaterThan(1e-4);

    await songs.getByRole('button', { name: /^Play / }).click();
    await page
      .getByRole('region', { name: 'Player' })
      .getByRole('button', { name: /^Pause / })
      .waitFor();
    await picture(page, 'music');
    await songs.getByRole('button', { name: /^Like / }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Only songs I like' }).click();
    await songs.getByRole('button', { name: /^Like /, pressed: true }).waitFor();

    await songs.getByRole('button', { name: /^More about/ }).click();
    await songs.getByRole('button', { name: 'Repaint' }).click();
    const wave = page.locator('.region-stage');
    await wave.waitFor();
    const box = await wave.boundingBox();
    if (!box) throw new Error('There is no wave.');
    const middle = box.y + box.height / 2;
    await page.mouse.move(box.x + 0.25 * box.width, middle);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.75 * box.width, middle, { steps: 4 });
    await page.mouse.up();
    await page.getByRole('slider', { name: /^End of the part/ }).press('ArrowRight');
    await picture(page, 'music-repaint');
    await page.getByRole('button', { name: 'Make the song' }).click();
    await page.getByRole('heading', { name: 'Just made' }).waitFor({ timeout: 120_000 });
    const { jobs } = await server.ask<{ jobs: { request: { options: Record<string, number> } }[] }>(
      'GET',
      'api/jobs?state=succeeded',
    );
    const { start, end } = jobs[0].request.options;
    expect(start).toBeCloseTo(heard.seconds / 4, 0);
    expect(end).toBeCloseTo((3 * heard.seconds) / 4 + 0.5, 0);

    await page.getByRole('button', { name: 'Only songs I like' }).click();
    const shown = (count: number) =>
      page.waitForFunction(
        (wanted) =>
          document.querySelectorAll('[aria-labelledby=songs-title] .song').length === wanted,
        count,
      );
    await shown(2);
    await songs
      .getByRole('button', { name: /^More about/ })
      .last()
      .click();
    await songs.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Keep it as it is' }).click();
    expect(await songs.getByRole('button', { name: /^Play / }).count()).toBe(2);
    await songs.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await shown(1);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('segments a head', async () => {
    const { page, complaints } = await visit(browser, `${server.address}/#/brain`);
    await page.getByLabel('Choose a scan…').setInputFiles(scanPath);
    await page.locator('[data-shown=scan]').waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Segment' }).click();
    await page.getByRole('heading', { name: 'Volumes' }).waitFor({ timeout: 120_000 });
    await page.locator('[data-shown=labels]').waitFor();
    const coming = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Label map' }).click();
    const labels = await readLabelMap(await (await coming).path());
    const expected = await readLabelMap(labelsPath);
    expect(agreement(labels.values, expected.values)).toBeGreaterThanOrEqual(0.999);
    await picture(page, 'brain');
    await page.reload(); // the address knows scan and result
    await page.getByRole('heading', { name: 'Volumes' }).waitFor();
    await page.locator('[data-shown=labels]').waitFor({ timeout: 60_000 });
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('is told what is wrong with a scan, where it was dropped', async () => {
    const { page } = await visit(browser, `${server.address}/#/brain`);
    const lie = {
      name: 'scan.nii',
      mimeType: 'application/octet-stream',
      buffer: Buffer.from('<script>alert(1)</script>'),
    };
    await page.getByLabel('Choose a scan…').setInputFiles(lie);
    const alert = page.getByRole('region', { name: 'Scan' }).getByRole('alert');
    await alert
      .or(page.getByRole('button', { name: 'Segment', disabled: false }))
      .first()
      .waitFor();
    if ((await alert.count()) === 0) await page.getByRole('button', { name: 'Segment' }).click();
    const fault = page.locator('main').getByRole('alert').first();
    await fault.waitFor({ timeout: 60_000 });
    expect(await fault.innerText()).not.toMatch(/^\[/);
    await page.context().close();
  });

  test('sees where people look, and how much of it falls into a box', async () => {
    const { page, complaints } = await visit(browser, `${server.address}/#/gaze`);
    await page.getByRole('button', { name: 'Make one up' }).click();
    await page.locator('[data-shown=map]').waitFor({ timeout: 120_000 });
    await page.getByRole('button', { name: 'Add a box' }).click();
    const cells = await page
      .getByRole('region', { name: 'Attention in boxes' })
      .locator('td')
      .allInnerTexts();
    const share = cells
      .map((text) => /([\d.]+) %/.exec(text)?.[1])
      .filter((text) => text !== undefined)
      .map(Number);
    expect(share[0]).toBeGreaterThan(0);
    expect(share[0]).toBeLessThan(100);
    expect(share[1]).toBeCloseTo(25, 0);
    await picture(page, 'gaze');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('completes code and takes what is proposed', async () => {
    const { page, complaints } = await visit(browser, `${server.address}/#/code`);
    const editor = page.getByRole('textbox', { name: 'Code' });
    await editor.waitFor();
    const before = await editor.innerText();
    await page.getByRole('button', { name: 'Go on from here' }).click();
    await page.getByRole('button', { name: 'Take it' }).waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Go on from here' }).waitFor({ timeout: 60_000 });
    await picture(page, 'code');
    const proposed = await page.locator('.cm-ghost').innerText();
    expect(proposed.trim()).not.toBe('');
    await editor.press('Tab');
    const after = (await editor.innerText()).replace(/\s+/g, '');
    expect(after).toBe((before + proposed).replace(/\s+/g, ''));
    await page.reload();
    await editor.waitFor();
    expect((await editor.innerText()).replace(/\s+/g, '')).toBe(after);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('types a sudoku in and sees it filled step by step', async () => {
    const { page, complaints } = await visit(browser, `${server.address}/#/puzzles?kind=sudoku4`);
    await page.getByRole('button', { name: 'Empty' }).click();
    const given = '1.3..4...1..4..2';
    const cells = page.getByRole('group', { name: /type digits/ }).getByRole('textbox');
    await cells.first().focus();
    for (const digit of given) {
      if (digit !== '.') await page.keyboard.press(digit);
      await page.keyboard.press('ArrowRight');
    }
    await page.getByRole('button', { name: 'Solve' }).click();
    const answer = page.getByRole('region', { name: 'Answer' });
    await answer.waitFor({ timeout: 120_000 });
    await answer.getByRole('slider', { name: 'Step' }).press('End');
    await picture(page, 'puzzles');
    const digits = await answer.locator('.sudoku').getAttribute('data-cells');
    const solved = [...(digits ?? '')].map(Number);
    const isValid = isSolutionOf(solved, parseSudoku(given)?.cells ?? [], 4);
    expect(await answer.getAttribute('data-valid')).toBe(String(isValid));
    expect(isValid).toBe(true);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('learns what this machine is and plans for others', async () => {
    const { page, complaints } = await visit(browser, `${server.address}/#/machine`);
    await page.getByRole('heading', { name: 'This machine' }).waitFor();
    await page.getByText('Processor, ').waitFor();
    await picture(page, 'machine');
    await page.getByText('Plans', { exact: true }).click();
    const table = page.getByRole('region', { name: 'Plans' });
    await table.waitFor({ timeout: 60_000 });
    await page.getByLabel('Show all reasons').check();
    expect(await table.innerText()).toMatch(/Memory needed[\s\S]*bf16[\s\S]*not f16/);
    await picture(page, 'plans');
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});
