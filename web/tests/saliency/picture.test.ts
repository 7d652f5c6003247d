// SPDX-License-Identifier: Apache-2.0
// A person looks at pictures in a real browser, and gets the maps, overlays and shares of `ubique
// run`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type StaticServer, launch, serve } from '../chromium.mjs';
import { type Visit, picture } from '../page/browser';
import { scratchFolder } from '../scans/ubique';
import {
  canRun, canvasPixels, downloaded, drop, looked, openPicture, otherPath, pageFolder, picturePath,
  ubiqueRun, visit,
} from './browser';
import { turnedJpeg, withOpacity } from './files';
import { pixelDifference, shareBeyond } from './png';

const ONE_STEP = 1; // of 255: what rounding may change
const A_FEW = 0.002; // of all values, beside lines and rings that move by a hair

describe.skipIf(!canRun())('a picture', () => {
  const folder = scratchFolder();
  let browser: Browser;
  let server: StaticServer;
  let first: Visit;
  let page: Page; // of that visit: one person does all of this
  beforeAll(async () => {
    [browser, server] = await Promise.all([launch('webgl'), serve({ '/': pageFolder })]);
    first = await visit(browser, `${server.origin}/`);
    page = first.page;
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  test('that is dropped gets the map of ubique, and nothing leaves the page', async () => {
    expect(await page.locator('#plan').innerText()).toMatch(/Ready.*threads, agrees with ubique/);
    expect(await page.locator('#notes').isVisible()).toBe(false);
    await picture(page, 'saliency-start');
    await drop(page, [['dropped.png', readFileSync(picturePath)]]);
    await looked(page, 'dropped');
    await picture(page, 'saliency-overlay');
    const { map } = ubiqueRun(picturePath);
    const own = await downloaded(page, 'Map (PNG)');
    expect(pixelDifference(own, map)).toBeLessThanOrEqual(ONE_STEP);
    const local = new RegExp(`^(blob:|data:|${server.origin}/)`);
    expect(first.requests.filter((url) => !local.test(url))).toEqual([]);
    expect(first.complaints).toEqual([]);
  });

  test("gets ubique's overlay with contours and places, on the screen and as a file", async () => {
    await openPicture(page, picturePath);
    await page.getByLabel('Colours').selectOption('viridis');
    await page.getByLabel('Opacity').fill('0.75');
    await page.getByLabel('Contours').selectOption('0.5,0.8');
    await page.getByLabel('First places').fill('3');
    const options = ['--palette', 'viridis', '--alpha', '0.75', '--contours', '0.5,0.8'];
    const { overlay } = ubiqueRun(picturePath, ...options, '--peaks', '3');
    const kept = await downloaded(page, 'Overlay (PNG)');
    expect(shareBeyond(kept, overlay, ONE_STEP)).toBeLessThan(A_FEW);
    const shown = await canvasPixels(page, 'overlay-canvas');
    expect(pixelDifference(shown, kept)).toBe(0);
    await page.getByText('Side by side').click();
    const plain = await canvasPixels(page, 'overlay-canvas');
    expect(shareBeyond(plain, overlay, ONE_STEP)).toBeGreaterThan(0.5);
    expect((await canvasPixels(page, 'map-canvas')).width).toBe(overlay.width);
    await picture(page, 'saliency-side');
    await page.getByText('Overlay', { exact: true }).click();
  });

  test('has the shares of ubique in boxes that are drawn or typed', async () => {
    await openPicture(page, picturePath);
    await page.locator('#overlay-plate').scrollIntoViewIfNeeded();
    const plate = await page.locator('#overlay-plate').boundingBox();
    if (!plate) throw new Error('no plate');
    await page.mouse.move(plate.x + 0.2 * plate.width, plate.y + 0.3 * plate.height);
    await page.mouse.down();
    await page.mouse.move(plate.x + 0.6 * plate.width, plate.y + 0.7 * plate.height, { steps: 4 });
    await page.mouse.up();
    await page.getByRole('button', { name: 'Add a box' }).press('Enter');
    await page.getByLabel('Width of box B').fill('40');
    await picture(page, 'saliency-boxes');
    const coming = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Boxes as CSV' }).click();
    const lines = readFileSync(await (await coming).path(), 'utf8').trim().split('\n');
    expect(lines).toHaveLength(3);
    const boxes = join(folder, 'boxes.csv');
    const places = lines.slice(1).map((line) => line.split(',').slice(1, 6).join(','));
    writeFileSync(boxes, `name,x,y,w,h\n${places.join('\n')}\n`);
    const run = ubiqueRun(picturePath, '--boxes', boxes);
    const theirs = readFileSync(join(run.folder, 'attention.csv'), 'utf8').trim().split('\n');
    expect(lines[0]).toBe(theirs[0]);
    for (const [i, line] of lines.slice(1).entries()) {
      const [share, area, lift, peak] = line.split(',').slice(6).map(Number);
      const expected = theirs[i + 1].split(',').slice(6).map(Number);
      expect(share).toBeCloseTo(expected[0], 4);
      expect(area).toBeCloseTo(expected[1], 5);
      expect(lift).toBeCloseTo(expected[2], 3);
      expect(peak).toBeCloseTo(expected[3], 3);
      const row = page.locator('#boxes tbody tr').nth(i);
      const cell = await row.locator('td:nth-child(6)').innerText();
      expect(Number.parseFloat(cell)).toBeCloseTo(100 * expected[0], 0);
    }
    await page.getByRole('button', { name: 'Remove box A' }).click();
    expect(await page.locator('#boxes tbody tr').count()).toBe(1);
  });

  test('of a camera that was turned is upright, and a JPEG is one to ubique too', async () => {
    const path = join(folder, 'turned.jpg');
    writeFileSync(path, await turnedJpeg(page, picturePath));
    await openPicture(page, path);
    const { map } = ubiqueRun(path);
    expect([map.width, map.height]).toEqual([150, 202]);
    const own = await downloaded(page, 'Map (PNG)');
    expect(pixelDifference(own, map)).toBeLessThanOrEqual(2 * ONE_STEP); // decoders round, too
  });

  test('has nearly the same map from weights of 16 bits', async () => {
    await page.locator('#model').selectOption('scenes-f16');
    await page.locator('#model-facts', { hasText: '16-bit weights' }).waitFor();
    await page.locator('#plan', { hasText: 'agrees with ubique' }).waitFor();
    await openPicture(page, picturePath);
    const own = await downloaded(page, 'Map (PNG)');
    expect(pixelDifference(own, ubiqueRun(picturePath).map)).toBeLessThanOrEqual(6 * ONE_STEP);
    await page.locator('#model').selectOption('scenes-f32');
    await page.locator('#model-facts', { hasText: '32-bit weights' }).waitFor();
    await page.locator('#plan', { hasText: 'agrees with ubique' }).waitFor();
  });

  test('with transparency has the colours below it, as in ubique', async () => {
    const path = join(folder, 'clear.png');
    writeFileSync(path, withOpacity(picturePath));
    await openPicture(page, path);
    const own = await downloaded(page, 'Map (PNG)');
    expect(pixelDifference(own, ubiqueRun(path).map)).toBeLessThanOrEqual(ONE_STEP);
  });

  test('is one of several, each with boxes of its own', async () => {
    const files: [string, Uint8Array][] = [
      ['first.png', readFileSync(picturePath)],
      ['second.png', readFileSync(otherPath)],
    ];
    await drop(page, files);
    await looked(page, 'first');
    await page.getByRole('button', { name: 'Add a box' }).click();
    await page.locator('#pictures').getByRole('button', { name: 'second' }).click();
    await looked(page, 'second');
    expect(await page.locator('#boxes tbody tr').count()).toBe(0);
    const { map } = ubiqueRun(otherPath);
    const own = await downloaded(page, 'Map (PNG)');
    expect(pixelDifference(own, map)).toBeLessThanOrEqual(ONE_STEP);
    await picture(page, 'saliency-several');
    await page.locator('#pictures').getByRole('button', { name: 'first' }).click();
    await looked(page, 'first');
    expect(await page.locator('#boxes tbody tr').count()).toBe(1);
  });

  test('can be made on the spot, pasted, looked at in another frame, by keys alone', async () => {
    await page.getByRole('button', { name: 'Make a sample' }).press('Enter');
    await looked(page, 'sample 1');
    expect(await page.locator('#status').innerText()).toMatch(/The eye should go first to the/);
    await page.getByLabel('Frame').selectOption('48 × 64');
    await page.locator('#rate', { hasText: '48 × 64' }).waitFor();
    await page.getByRole('radio', { name: 'Overlay' }).focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('#map-canvas').isVisible()).toBe(true);
    expect(await page.locator('#overlay-canvas').isVisible()).toBe(false);
    await page.evaluate((bytes) => {
      const clipboardData = new DataTransfer();
      const pasted = new File([new Uint8Array(bytes)], 'pasted.png', { type: 'image/png' });
      clipboardData.items.add(pasted);
      dispatchEvent(new ClipboardEvent('paste', { clipboardData }));
    }, [...readFileSync(picturePath)]);
    await looked(page, 'pasted');
  });

  for (const [name, options] of [
    ['dark', { colorScheme: 'dark' as const }],
    ['phone', { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }],
  ] as const) {
    test(`fits its page when that is ${name}`, async () => {
      const { page: fresh } = await visit(browser, `${server.origin}/`, options);
      await openPicture(fresh, picturePath);
      await fresh.getByRole('button', { name: 'Add a box' }).click();
      await picture(fresh, `saliency-${name}`);
      const overhang = await fresh.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(overhang).toBe(0);
      await fresh.context().close();
    });
  }
});
