// SPDX-License-Identifier: Apache-2.0
// The camera in a real browser: one that only pretends, none at all, one that may not be used.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CAMERA, type StaticServer, launch, serve } from '../chromium.mjs';
import { errorOf, picture } from '../page/browser';
import { canRun, canvasPixels, downloaded, pageFolder, visit } from './browser';
import { pixelDifference } from './png';

const starts = (page: Page) => page.getByRole('button', { name: 'Start the camera' });
const stops = (page: Page) => page.getByRole('button', { name: 'Stop the camera' });

describe.skipIf(!canRun())('a camera', () => {
  let server: StaticServer;
  let browser: Browser;
  beforeAll(async () => {
    [browser, server] = await Promise.all([launch('none', CAMERA), serve({ '/': pageFolder })]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  test('shows map after map, with their number in a second, until it is stopped', async () => {
    const options = { permissions: ['camera'] };
    const { page, complaints } = await visit(browser, `${server.origin}/`, options);
    await starts(page).click();
    await page.locator('#rate', { hasText: /^\d+(\.\d)? maps per second · \d+ × \d+$/ }).waitFor();
    await page.getByLabel('Smoothing').fill('0');
    const first = await canvasPixels(page, 'overlay-canvas');
    expect([first.width, first.height]).toEqual([640, 480]);
    await page.waitForFunction(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('#overlay-canvas');
      const now = canvas?.toDataURL();
      const kept = globalThis as { seen?: string };
      kept.seen ??= now;
      return now !== kept.seen;
    });
    await page.getByLabel('Frame').selectOption('72 × 96');
    await page.locator('#rate', { hasText: '72 × 96' }).waitFor();
    await picture(page, 'saliency-camera');
    await stops(page).click();
    expect(await page.locator('#camera-box').isVisible()).toBe(false);
    const still = await canvasPixels(page, 'overlay-canvas');
    await page.waitForTimeout(500);
    expect(pixelDifference(await canvasPixels(page, 'overlay-canvas'), still)).toBe(0);
    expect(pixelDifference(await downloaded(page, 'Overlay (PNG)'), still)).toBe(0);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('can start before the model is there, be unplugged, and give way to a picture', async () => {
    const options = { permissions: ['camera'], wait: false };
    const { page } = await visit(browser, `${server.origin}/`, options);
    await page.evaluate(() => {
      const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
      navigator.mediaDevices.getUserMedia = async (wishes) => {
        const stream = await ask(wishes);
        const unplug = () => {
          stream.getTracks()[0].stop();
          stream.getTracks()[0].dispatchEvent(new Event('ended'));
        };
        Object.assign(globalThis, { unplug });
        return stream;
      };
    });
    await starts(page).click();
    await page.locator('#rate', { hasText: 'maps per second' }).waitFor();
    await page.evaluate('unplug()'); // it goes by itself
    expect(await errorOf(page)).toMatch(/camera is gone/);
    expect(await page.locator('#overlay-canvas').isVisible()).toBe(true);
    await starts(page).click();
    await stops(page).waitFor();
    expect(await page.locator('#message').isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Make a sample' }).click();
    await starts(page).waitFor();
    await page.locator('#rate', { hasText: /s · 64 × 80/ }).waitFor();
    expect(await page.locator('#picture-facts').innerText()).toMatch(/sample 1/);
    await page.context().close();
  });

  test('that may not be used is told with what to do', async () => {
    const { page } = await visit(browser, `${server.origin}/`, { wait: false });
    await starts(page).click();
    expect(await errorOf(page)).toMatch(/permission was denied.*Allow it/s);
    await starts(page).waitFor();
    await page.context().close();
  });

  test('that is not there, or not for such a page, is told too', async () => {
    const bare = await launch();
    const options = { permissions: ['camera'], wait: false };
    const { page } = await visit(bare, `${server.origin}/`, options);
    await starts(page).click();
    expect(await errorOf(page)).toMatch(/No camera was found.*pictures work without/s);
    await page.evaluate(() => {
      Object.defineProperty(navigator, 'mediaDevices', { value: undefined });
    });
    await starts(page).click();
    await page.getByText(/https:\/\/ or localhost/).waitFor();
    await bare.close();
  });
});
