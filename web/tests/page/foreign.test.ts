// SPDX-License-Identifier: Apache-2.0
// What strangers wrote, in the names of files and labels: the pages show it as text, and their
// policy runs no script that is not their own.
import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type StaticServer, launch, serve } from '../chromium.mjs';
import * as saliency from '../saliency/browser';
import {
  canRun, chooseEngine, copiedModel, errorOf, launchPage, pageFolder, planned, scanPath, segment,
  visit,
} from './browser';

const hostile = '<img src=x onerror="document.title = 1">';

/** How many elements hostile text has become. */
function elementsOfText(page: Page): Promise<number> {
  return page.locator('img').count(); // the pages have none of their own
}

/** Which of the ways into a page run a script that somebody got there. */
function scriptsRun(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const run: string[] = [];
    Object.assign(globalThis, { report: (way: string) => run.push(way) });
    const script = document.createElement('script');
    script.textContent = "report('inline')";
    document.body.append(script);
    const holder = document.createElement('div');
    holder.innerHTML = `<img src="data:," onerror="report('handler')">`;
    document.body.append(holder);
    await new Promise((resolve) => setTimeout(resolve, 500));
    return run;
  });
}

function scriptPolicy(folder: string): string[] {
  const html = readFileSync(join(folder, 'index.html'), 'utf8');
  const [, sources] = /script-src ([^;]*);/.exec(html) ?? [];
  return sources.split(' ');
}

test('the sources of the pages never read text as HTML', () => {
  const web = resolve(import.meta.dirname, '../..');
  const sources = ['shared', 'segment/src', 'saliency/src'].flatMap((folder) =>
    readdirSync(join(web, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|js)$/.test(name))
      .map((name) => join(web, folder, name)),
  );
  const asHtml = /innerHTML|outerHTML|insertAdjacentHTML|setHTML|document\.write|DOMParser|srcdoc/;
  expect(sources.length).toBeGreaterThan(50);
  expect(sources.filter((path) => asHtml.test(readFileSync(path, 'utf8')))).toEqual([]);
});

describe.skipIf(!canRun())('the page for scans', () => {
  let browser: Browser;
  let server: StaticServer;
  beforeAll(async () => {
    [browser, server] = await Promise.all([launchPage(), serve({ '/': pageFolder })]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  test('runs no scripts but its own', async () => {
    const [own, wasm, ...hashes] = scriptPolicy(pageFolder);
    expect([own, wasm]).toEqual(["'self'", "'wasm-unsafe-eval'"]);
    expect(hashes).toEqual([expect.stringMatching(/^'sha256-.{44}'$/)]);
    const { page, complaints } = await visit(browser, `${server.origin}/`);
    expect(complaints).toEqual([]);
    expect(await scriptsRun(page)).toEqual([]);
    expect(complaints.length).toBe(2);
    await page.context().close();
  });

  test('shows names of labels, models and scans as text', async () => {
    const { page, complaints } = await visit(browser, `${server.origin}/`);
    await chooseEngine(page, 'planes-wasm');
    const model = copiedModel((manifest) => {
      manifest.name = hostile;
      for (const label of manifest.labels) label.name = hostile;
    });
    await page.locator('#model-files').setInputFiles(model);
    await page.locator('#model-labels', { hasText: hostile }).waitFor();
    expect(await page.locator('#model option:checked').innerText()).toBe(`${hostile} (added)`);
    const scan = { name: `${hostile}.nii.gz`, mimeType: '', buffer: readFileSync(scanPath) };
    await page.locator('#scan-file').setInputFiles(scan);
    await page.locator('#scan-facts', { hasText: hostile }).waitFor();
    await planned(page);
    await segment(page);
    expect(await page.locator('#volumes tbody th').first().innerText()).toBe(hostile);
    expect(await page.locator('#crosshair').innerText()).toContain(hostile);
    await page.locator('#scan-file').setInputFiles({ ...scan, buffer: Buffer.from('no scan') });
    expect(await errorOf(page)).toContain(hostile);
    expect(await elementsOfText(page)).toBe(0);
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});

describe.skipIf(!saliency.canRun())('the page for pictures', () => {
  let browser: Browser;
  let server: StaticServer;
  beforeAll(async () => {
    [browser, server] = await Promise.all([launch(), serve({ '/': saliency.pageFolder })]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  test('runs no scripts but its own, and shows names of files as text', async () => {
    expect(scriptPolicy(saliency.pageFolder)).not.toContain("'unsafe-inline'");
    const { page, complaints } = await saliency.visit(browser, `${server.origin}/`);
    const image = readFileSync(saliency.picturePath);
    await saliency.drop(page, [
      [`wrong ${hostile}.txt`, Buffer.from('no picture')],
      [`first ${hostile}.png`, image],
      [`second ${hostile}.png`, image],
    ]);
    await saliency.looked(page, `first ${hostile}`);
    expect(await errorOf(page)).toContain(`wrong ${hostile}.txt`);
    expect(await page.locator('#pictures').innerText()).toContain(`second ${hostile}`);
    expect(await elementsOfText(page)).toBe(0);
    expect(complaints).toEqual([]);
    expect(await scriptsRun(page)).toEqual([]);
  });
});
