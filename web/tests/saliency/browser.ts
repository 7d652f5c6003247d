// SPDX-License-Identifier: Apache-2.0
// A real browser with the exported page in it, what tests ask of that page, and what ubique itself
// makes of a picture. The page's folder, pictures and the network come from the environment.
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { Pixels } from '../../saliency/src/images/raster';
import { CHROMIUM } from '../chromium.mjs';
import { type Visit, watched } from '../page/browser';
import { scratchFolder, ubique } from '../scans/ubique';
import { parsePng, readPng } from './png';

export const pageFolder = process.env.UBIQUE_WEB_SALIENCY ?? '';
const pictures = process.env.UBIQUE_WEB_PICTURES ?? '';
const network = process.env.UBIQUE_WEB_SALIENCY_NETWORK ?? '';
export const picturePath = join(pictures, 'scene_000000.png');
export const otherPath = join(pictures, 'scene_000001.png');

export function canRun(): boolean {
  const missing = [CHROMIUM, pageFolder, pictures, network].filter((path) => !existsSync(path));
  if (missing.length === 0) return true;
  process.stderr.write(
    'left out: tests of the saliency page (a browser, UBIQUE_WEB_SALIENCY, UBIQUE_WEB_PICTURES ' +
      'and UBIQUE_WEB_SALIENCY_NETWORK are needed)\n',
  );
  return false;
}

/** A person's first visit: nothing stored; the page is ready, and its model if it is waited for. */
export async function visit(
  browser: Browser,
  address: string,
  options: BrowserContextOptions & { wait?: boolean } = {},
): Promise<Visit> {
  const { wait = true, ...rest } = options;
  const context = await browser.newContext({ viewport: { width: 1280, height: 1000 }, ...rest });
  const visited = watched(await context.newPage());
  const { page } = visited;
  page.setDefaultTimeout(120_000); // on a machine that has other work too
  await page.goto(address);
  await page.waitForFunction(() => crossOriginIsolated); // after one reload
  await page.locator('#threads', { hasText: 'Threads' }).waitFor({ state: 'attached' });
  if (wait) await page.waitForSelector('#engines-fold:not([hidden])');
  return visited;
}

/** Waits until the picture of that name has its map. */
export async function looked(page: Page, name: string): Promise<void> {
  await page.locator('#picture-facts', { hasText: name }).waitFor();
  await page.waitForSelector('#result-box:not([hidden])');
  await page.waitForSelector('#progress', { state: 'hidden' });
}

export async function openPicture(page: Page, path: string): Promise<void> {
  await page.locator('#picture-files').setInputFiles(path);
  await looked(page, basename(path).replace(/\.[^.]*$/, ''));
}

/** As a person drops them: by name and content. */
export async function drop(page: Page, files: [string, Uint8Array][]): Promise<void> {
  const content = files.map(([name, bytes]) => [name, [...bytes]] as [string, number[]]);
  const transfer = await page.evaluateHandle((given) => {
    const dropped = new DataTransfer();
    for (const [name, bytes] of given) {
      dropped.items.add(new File([new Uint8Array(bytes)], name));
    }
    return dropped;
  }, content);
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
}

/** The picture that the page hands out under that title. */
export async function downloaded(page: Page, title: string): Promise<Pixels> {
  const coming = page.waitForEvent('download');
  await page.getByRole('button', { name: title, exact: true }).click();
  return parsePng(readFileSync(await (await coming).path()));
}

/** What a canvas shows. */
export async function canvasPixels(page: Page, id: string): Promise<Pixels> {
  const url = await page
    .locator(`#${id}`)
    .evaluate((element) => (element as HTMLCanvasElement).toDataURL('image/png'));
  return parsePng(Buffer.from(url.split(',')[1], 'base64'));
}

export interface UbiqueRun {
  map: Pixels;
  overlay: Pixels;
  folder: string;
}

/** The files of `ubique run msinet` with these options; in 32 bits, as browsers compute. */
export function ubiqueRun(path: string, ...options: string[]): UbiqueRun {
  const folder = join(scratchFolder(), 'saliency');
  const how = ['--model', network, '--device', 'cpu', '--dtype', 'f32', '-o', folder, '-q'];
  ubique('run', 'msinet', path, ...how, ...options);
  const name = basename(path).replace(/\.[^.]*$/, '');
  return {
    map: readPng(join(folder, `${name}_saliency.png`)),
    overlay: readPng(join(folder, `${name}_overlay.png`)),
    folder,
  };
}
