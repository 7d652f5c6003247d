// SPDX-License-Identifier: Apache-2.0
// The page wherever it is put: on a plain host, in a subfolder, on a host that redirects, without
// service workers, without WebGL, opened from a file; and what its folder holds.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  agreement, canRun, chooseEngine, downloadedLabels, labelsPath, launchPage, openScan, pageFolder,
  planned, readLabelMap, scanPath, segment, visit,
} from './browser';
import { type StaticServer, serve } from '../chromium.mjs';

describe.skipIf(!canRun())('the page', () => {
  let browser: Browser;
  let server: StaticServer;
  beforeAll(async () => {
    [browser, server] = await Promise.all([launchPage(), serve({ '/some/where/': pageFolder })]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  async function checkLabels(page: Page): Promise<void> {
    await segment(page);
    const { values } = await downloadedLabels(page, 'Label map');
    const expected = await readLabelMap(labelsPath);
    expect(agreement(values, expected.values)).toBeGreaterThanOrEqual(0.999);
  }

  test('works in a subfolder of a plain host, and its service worker brings threads', async () => {
    const { page, requests } = await visit(browser, `${server.origin}/some/where/`);
    await chooseEngine(page, 'ort-wasm');
    await openScan(page, scanPath);
    expect(await page.locator('#plan').innerText()).toMatch(/[2-9] threads/);
    const elsewhere = (url: string) => url.startsWith('http') && !url.includes('/some/where/');
    expect(requests.filter(elsewhere)).toEqual([]);
    await page.context().close();
  });

  test('opens a second time where the host redirects to shorter addresses', async () => {
    const host = await serve({ '/': pageFolder }, { shortNames: true });
    const { page } = await visit(browser, `${host.origin}/index.html`);
    expect(await page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
    await page.goto(`${host.origin}/index.html`); // now through the service worker
    expect(page.url()).toBe(`${host.origin}/`);
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
    await page.waitForSelector('#model-facts:not([hidden])');
    await page.context().close();
    await host.close();
  });

  test('works with one thread where service workers are refused', async () => {
    const address = `${server.origin}/some/where/`;
    const { page } = await visit(browser, address, { serviceWorkers: 'block' });
    await chooseEngine(page, 'planes-wasm');
    await openScan(page, scanPath);
    expect(await page.locator('#plan').innerText()).not.toMatch(/threads/);
    await checkLabels(page);
    await page.context().close();
  });

  test('takes a scan that is dropped on it, and works without WebGL', async () => {
    const { page } = await visit(browser, `${server.origin}/some/where/`);
    await page.addInitScript(() => {
      HTMLCanvasElement.prototype.getContext = () => null;
    });
    await page.reload();
    await page.waitForSelector('#model-facts:not([hidden])');
    await chooseEngine(page, 'planes-wasm');
    const bytes = [...readFileSync(scanPath)];
    const transfer = await page.evaluateHandle((content) => {
      const dropped = new DataTransfer();
      dropped.items.add(new File([new Uint8Array(content)], 'dropped.nii.gz'));
      return dropped;
    }, bytes);
    await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
    await page.getByText('dropped', { exact: true }).waitFor();
    await planned(page);
    await page.getByText('the viewer needs WebGL 2').waitFor();
    await checkLabels(page);
    await page.context().close();
  });

  test('says how to serve it when it is opened from a file', async () => {
    const page = await browser.newPage();
    await page.goto(pathToFileURL(join(pageFolder, 'index.html')).href);
    const text = await page.locator('body').innerText();
    expect(text).toMatch(/npx serve DIR/);
    expect(text).toMatch(/python3 -m http\.server -d DIR/);
    expect(text).not.toMatch(/Drop a scan|Choose a file/);
    await page.close();
  });

  test('is a folder without the same file twice', () => {
    const files = readdirSync(pageFolder, { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.startsWith('models'))
      .map((name) => join(pageFolder, name))
      .filter((path) => statSync(path).isFile());
    const large = files.filter((path) => statSync(path).size > 100_000);
    const digest = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
    expect(large.length).toBeGreaterThan(3);
    expect(new Set(large.map(digest)).size).toBe(large.length);
  });
});
