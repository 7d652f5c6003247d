// SPDX-License-Identifier: Apache-2.0
// A person segments a scan in a real browser, and gets the labels of `ubique run`.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Visit, agreement, canRun, chooseEngine, copiedModel, downloadedLabels, labelsPath, launchPage,
  openScan, pageFolder, picture, planned, readLabelMap, scanPath, segment, visit,
} from './browser';
import { type StaticServer, serve } from '../chromium.mjs';

async function shownVoxels(page: Page): Promise<number[]> {
  const cells = await page.locator('#volumes tbody td:nth-child(2)').allInnerTexts();
  return cells.map((text) => Number(text.replaceAll(',', '')));
}

function countedVoxels(values: Uint8Array, classes: number): number[] {
  const counts = new Array<number>(classes).fill(0);
  for (const value of values) counts[value] += 1;
  return counts.slice(1);
}

describe.skipIf(!canRun())('a scan', () => {
  let browser: Browser;
  let server: StaticServer;
  let expected: Uint8Array;
  beforeAll(async () => {
    [browser, server] = await Promise.all([launchPage(), serve({ '/': pageFolder })]);
    expected = (await readLabelMap(labelsPath)).values;
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  async function inNewPage(engine?: string): Promise<Visit> {
    const opened = await visit(browser, `${server.origin}/`);
    if (engine) await chooseEngine(opened.page, engine);
    return opened;
  }

  test('gets the labels of ubique from the engine that the page chooses by itself', async () => {
    const { page, requests, complaints } = await inNewPage();
    await picture(page, 'start');
    await openScan(page, scanPath);
    expect(await page.locator('#plan').innerText()).toMatch(/agrees? with ubique.*memory/s);
    expect(await page.locator('#engines tbody tr').count()).toBeGreaterThan(2);
    await segment(page);
    await picture(page, 'result');
    const { values } = await downloadedLabels(page, 'Label map');
    expect(agreement(values, expected)).toBeGreaterThanOrEqual(0.999);
    expect(await page.locator('#crosshair').innerText()).toMatch(/mm · .+ · [a-z]/);
    const local = new RegExp(`^(blob:|data:|${server.origin}/)`);
    expect(requests.filter((url) => !local.test(url))).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  for (const engine of ['ort-wasm', 'tfjs-wasm']) {
    test(`gets ubique's labels from ${engine}, and the download is what is shown`, async () => {
      const { page } = await inNewPage(engine);
      await openScan(page, scanPath);
      await segment(page);
      const labels = await downloadedLabels(page, 'Label map');
      expect(agreement(labels.values, expected)).toBeGreaterThanOrEqual(0.999);
      const shown = await shownVoxels(page);
      expect(shown).toEqual(countedVoxels(labels.values, shown.length + 1));
      await page.context().close();
    });
  }

  test('can be cancelled in the middle, and segmented again', async () => {
    const { page } = await inNewPage('tfjs-wasm');
    await openScan(page, scanPath);
    await page.getByRole('button', { name: 'Segment' }).click();
    await page.waitForFunction(() => {
      const bar = document.querySelector('progress');
      return bar !== null && bar.value > 0 && bar.position > 0;
    });
    await page.getByText('Engines tried').click();
    await picture(page, 'running');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.waitForSelector('#start:enabled');
    expect(await page.locator('#volumes-box').isVisible()).toBe(false);
    expect(await page.locator('#message').isVisible()).toBe(false);
    await page.getByLabel('Engine', { exact: true }).selectOption('planes-wasm');
    await page.locator('#plan', { hasText: 'rolling planes' }).waitFor();
    await planned(page);
    await segment(page);
    const { values } = await downloadedLabels(page, 'Label map');
    expect(agreement(values, expected)).toBeGreaterThanOrEqual(0.999);
    await page.context().close();
  });

  test('that is made up gets several labels, in sub-volumes where memory is short', async () => {
    const { page } = await inNewPage('ort-wasm');
    const long = copiedModel((manifest) => {
      manifest.preprocessing.shape = [320, 32, 32]; // longer than a halo reaches
    });
    await page.locator('#model-files').setInputFiles(long);
    await page.getByRole('button', { name: 'Use the synthetic head' }).click();
    await planned(page);
    const whole = await page.locator('#plan').innerText();
    const [, megabytes] = /(\d+) MB of memory/.exec(whole) ?? [];
    expect(whole).not.toMatch(/sub-volumes/);
    await page.getByLabel('Memory limit').fill(String((Number(megabytes) - 3) / 1000));
    await page.getByLabel('Memory limit').blur();
    await page.getByText(/in \d+ sub-volumes, with the same result/).waitFor();
    await planned(page);
    await segment(page);
    expect(await page.locator('#summary').innerText()).toMatch(/in \d+ sub-volumes/);
    expect((await shownVoxels(page)).filter((count) => count > 0).length).toBeGreaterThan(2);
    await page.context().close();
  });

  for (const [name, options] of [
    ['dark', { colorScheme: 'dark' as const }],
    ['phone', { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }],
  ] as const) {
    test(`fits its page when that is ${name}`, async () => {
      const { page } = await visit(browser, `${server.origin}/`, options);
      await chooseEngine(page, 'planes-wasm');
      await openScan(page, scanPath);
      await segment(page);
      await picture(page, name);
      const overhang = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(overhang).toBe(0);
      await page.context().close();
    });
  }
});
