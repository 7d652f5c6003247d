// SPDX-License-Identifier: Apache-2.0
// A stranger teaches the music model a style: songs in, a curve while it learns, previews to hear, a
// style to choose; and the machine's room draws the same run.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launch } from '../../chromium.mjs';
import { StudioServer, canServe } from './server';
import { expectFit, objections, picture, visit } from './visit';

describe.skipIf(!canServe())('a stranger', () => {
  const server = new StudioServer();
  const folder = mkdtempSync(join(tmpdir(), 'ubique-songs-'));
  const songs = join(folder, 'songs');
  let browser: Browser;
  beforeAll(async () => {
    [browser] = await Promise.all([launch(), server.start()]);
    await server.addModels();
    const words = ['data', 'acestep', 'synth', '-o', songs, '--count', '4', '--seconds', '3', '-q'];
    execFileSync(process.env.UBIQUE_BIN ?? '', words, { stdio: 'ignore' });
  });
  afterAll(async () => {
    await browser?.close();
    await server.end();
    rmSync(folder, { recursive: true, force: true });
  });

  test('trains a style, hears it and sees what it learned', async () => {
    const { page, complaints } = await visit(browser, `${server.address}/#/music?view=train`);
    const files = readdirSync(songs).map((name) => join(songs, name));
    await page.getByLabel('Choose songs…').setInputFiles(files);
    await page.getByText('4 songs,').waitFor();
    await page.getByLabel('Name of the style').fill('Saws');
    await page.getByLabel('Updates').fill('30'); // every tenth is a point of the curve
    await page.getByText('All settings').click();
    await page.getByLabel(/^Preview seconds/).fill('1');
    await page.getByRole('button', { name: 'Train', exact: true }).click();
    const training = page.getByRole('region', { name: 'Training' });
    await training.getByText('The style is ready').waitFor({ timeout: 170_000 });
    const preview = training.locator('audio').first();
    await preview.waitFor();
    const address = (await preview.getAttribute('src')) ?? '';
    const sound = await page.evaluate(async (url) => {
      const bytes = await (await fetch(url)).arrayBuffer();
      const heard = await new OfflineAudioContext(2, 1, 48_000).decodeAudioData(bytes);
      return { seconds: heard.duration, peak: Math.max(...heard.getChannelData(0).map(Math.abs)) };
    }, address);
    expect(sound.seconds).toBeGreaterThan(0.5);
    expect(sound.peak).toBeGreaterThan(1e-4);
    expect(await objections(page)).toEqual([]);
    await picture(page, 'style');

    await page.goto(`${server.address}/#/music`);
    await page.getByText('All settings').click();
    const style = page.getByLabel('Style', { exact: true });
    await style.selectOption('Saws');
    await page.getByRole('button', { name: 'Use the example' }).click();
    await page.getByLabel('Seconds', { exact: true }).fill('2');
    await page.getByLabel('Steps', { exact: true }).fill('2');
    await page.getByRole('button', { name: 'Make the song' }).click();
    await page.getByRole('heading', { name: 'Just made' }).waitFor({ timeout: 120_000 });

    await page.goto(`${server.address}/#/machine?view=runs`);
    await page.getByRole('img', { name: /^loss from .* at step \d+ to / }).waitFor();
    expect(await objections(page)).toEqual([]);
    await expectFit(page);
    await picture(page, 'runs');
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});
