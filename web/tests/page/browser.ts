// SPDX-License-Identifier: Apache-2.0
// A real browser with the exported page in it, and what tests ask of that page. The page's folder,
// a scan and the labels that ubique gives it come from the environment.
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { Manifest } from '../../segment/src/model';
import { CHROMIUM, launch } from '../chromium.mjs';
import type { LabelGrid } from '../../segment/src/scans/grid';
import { readScan } from '../../segment/src/scans/scan';
import { scratchFolder } from '../scans/ubique';

const web = resolve(import.meta.dirname, '../..');
const screenshots = resolve(web, '../build/web/screenshots');

export const pageFolder = process.env.UBIQUE_WEB_DIR ?? '';
export const scanPath = process.env.UBIQUE_WEB_SCAN ?? '';
export const labelsPath = process.env.UBIQUE_WEB_LABELS ?? '';

/** Why these tests cannot run here; empty where they can. */
export function whyNot(): string {
  if (!existsSync(CHROMIUM)) return `no browser at ${CHROMIUM}`;
  const needed = {
    UBIQUE_WEB_DIR: pageFolder, // of `ubique export meshnet --format web`
    UBIQUE_WEB_SCAN: scanPath,
    UBIQUE_WEB_LABELS: labelsPath, // of `ubique run meshnet` on that scan
  };
  const missing = Object.entries(needed).filter(([, path]) => !path || !existsSync(path));
  if (missing.length === 0) return '';
  return `${missing.map(([name]) => name).join(', ')} must name files`;
}

export function canRun(): boolean {
  const reason = whyNot();
  if (reason) process.stderr.write(`left out: tests of the page (${reason})\n`);
  return reason === '';
}

export const launchPage = () => launch('webgl'); // which the viewer needs

export interface Visit {
  page: Page;
  requests: string[]; // addresses asked for, in order
  complaints: string[]; // errors that nobody caught, and what the page's policy refused
}

/** Notes from now on what the page asks for and what goes wrong in it. */
export function watched(page: Page): Visit {
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) complaints.push(message.text());
  });
  return { page, requests, complaints };
}

/** A person's first visit: nothing stored, page and model loaded. */
export async function visit(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const visited = watched(await context.newPage());
  const { page } = visited;
  await page.goto(address);
  if (options.serviceWorkers !== 'block') {
    await page.waitForFunction(() => crossOriginIsolated); // after one reload
  }
  await page.waitForSelector('#model-facts:not([hidden])');
  await page.waitForSelector('#cancel', { state: 'hidden' });
  return visited;
}

export async function planned(page: Page): Promise<void> {
  await page.waitForSelector('#start:enabled', { timeout: 180_000 });
}

export async function chooseEngine(page: Page, engine: string): Promise<void> {
  await page.getByText('Advanced', { exact: true }).click();
  await page.getByLabel('Engine', { exact: true }).selectOption(engine);
}

export async function openScan(page: Page, path: string): Promise<void> {
  await page.locator('#scan-file').setInputFiles(path);
  await page.waitForSelector('#scan-facts:not([hidden])');
  await planned(page);
}

export async function segment(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Segment' }).click();
  await page.waitForSelector('#volumes-box:not([hidden])', { timeout: 180_000 });
}

/** The text of the one place for errors, once it is shown. */
export async function errorOf(page: Page): Promise<string> {
  const message = page.getByRole('alert').filter({ visible: true }).first();
  await message.waitFor();
  return message.innerText();
}

export async function readLabelMap(path: string): Promise<LabelGrid> {
  const { volume } = await readScan(new File([readFileSync(path)], path), path);
  return { ...volume, values: Uint8Array.from(volume.values) };
}

/** What the page hands out under that title. */
export async function downloadedLabels(page: Page, title: string): Promise<LabelGrid> {
  const coming = page.waitForEvent('download');
  await page.getByRole('link', { name: title, exact: true }).click();
  return readLabelMap(await (await coming).path());
}

export function agreement(a: Uint8Array, b: Uint8Array): number {
  let same = 0;
  for (let i = 0; i < a.length; ++i) same += a[i] === b[i] ? 1 : 0;
  return a.length === b.length ? same / a.length : 0;
}

export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true });
  await page.waitForTimeout(300); // the viewer draws a frame later
  await page.screenshot({ path: `${screenshots}/${name}.png`, fullPage: true });
}

/** The first exported model, in a folder of its own and changed. */
export function copiedModel(change: (manifest: Manifest, folder: string) => void): string {
  const models = join(pageFolder, 'models');
  const [name] = readdirSync(models).filter((entry) => entry !== 'index.json');
  const folder = join(scratchFolder(), name);
  cpSync(join(models, name), folder, { recursive: true });
  const path = join(folder, 'ubique.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
  change(manifest, folder);
  writeFileSync(path, JSON.stringify(manifest));
  return folder;
}
