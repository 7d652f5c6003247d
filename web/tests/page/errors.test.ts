// SPDX-License-Identifier: Apache-2.0
// What people do wrong, or others did to their files: each gets one message that says what to do,
// and the page goes on working.
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scratchFolder } from '../scans/ubique';
import {
  canRun, chooseEngine, copiedModel, errorOf, launchPage, openScan, pageFolder, picture, planned,
  scanPath, segment, visit,
} from './browser';
import { type StaticServer, serve } from '../chromium.mjs';

describe.skipIf(!canRun())('a message that says what to do comes for', () => {
  const folder = scratchFolder();
  let browser: Browser;
  let server: StaticServer;
  let page: Page; // one person makes all of these mistakes

  function fileWith(name: string, bytes: Uint8Array | string): string {
    writeFileSync(join(folder, name), bytes);
    return join(folder, name);
  }

  async function messageFor(path: string): Promise<string> {
    await page.locator('#scan-file').setInputFiles(path);
    const message = await errorOf(page);
    await page.getByRole('button', { name: 'Close this message' }).click();
    return message;
  }

  beforeAll(async () => {
    [browser, server] = await Promise.all([launchPage(), serve({ '/': pageFolder })]);
    ({ page } = await visit(browser, `${server.origin}/`));
    await chooseEngine(page, 'planes-wasm');
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  test('files that are not NIfTI, by what they look like', async () => {
    const dicom = new Uint8Array(1000);
    dicom.set([0x44, 0x49, 0x43, 0x4d], 128);
    expect(await messageFor(fileWith('slice.dcm', dicom))).toMatch(/DICOM.*dcm2niix/);
    expect(await messageFor(fileWith('a.nii', '<!doctype html><p>Sign in'))).toMatch(/web page/);
    const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0]);
    expect(await messageFor(fileWith('a.png', png))).toMatch(/PNG picture/);
    expect(await messageFor(fileWith('empty.nii', ''))).toMatch(/is empty/);
  });

  test('scans that are cut short, packed or not', async () => {
    const packed = readFileSync(scanPath);
    const plain = gunzipSync(packed);
    const half = (bytes: Uint8Array) => bytes.subarray(0, bytes.length / 2);
    const words = /cut short.*Copy it again/;
    expect(await messageFor(fileWith('a.nii.gz', half(packed)))).toMatch(words);
    expect(await messageFor(fileWith('b.nii', half(plain)))).toMatch(words);
  });

  test('a file of 2 GB, before it is read', async () => {
    const path = fileWith('huge.nii', '');
    truncateSync(path, 2 ** 31); // holes take no room
    expect(await messageFor(path)).toMatch(/too large.*2\.1 GB.*command line/s);
    rmSync(path);
  });

  test('a series of several volumes, of which one can be picked', async () => {
    const series = gunzipSync(readFileSync(scanPath));
    const voxels = series.subarray(352);
    series.writeInt16LE(4, 40); // four dimensions,
    series.writeInt16LE(2, 48); // two along the fourth
    const path = fileWith('series.nii', Buffer.concat([series, voxels]));
    expect(await messageFor(path)).toMatch(/2 volumes.*choose which/);
    await page.getByLabel('Volume (1 to 2)').fill('2');
    await page.getByRole('button', { name: 'Open it' }).click();
    await page.getByText('series', { exact: true }).waitFor();
    await planned(page);
  });

  test('a model with a weight file that is too short', async () => {
    const short = copiedModel((manifest, model) => {
      const document = JSON.parse(readFileSync(join(model, manifest.files.tfjs), 'utf8'));
      truncateSync(join(model, document.weightsManifest[0].paths[0]), 1000);
    });
    await page.locator('#model-files').setInputFiles(short);
    expect(await errorOf(page)).toMatch(/1000 bytes.*expects \d+.*copy the whole folder/s);
    await picture(page, 'error');
  });

  test('a model that lacks a file, or is of another version', async () => {
    const lacking = copiedModel((manifest, model) => rmSync(join(model, manifest.files.onnx)));
    await page.locator('#model-files').setInputFiles(lacking);
    await page.getByText(/lacks the file \S+\.onnx/).waitFor();
    const newer = copiedModel((manifest) => Object.assign(manifest, { version: 2 }));
    await page.locator('#model-files').setInputFiles(newer);
    await page.getByText(/version is 2, and this page knows 1/).waitFor();
  });

  test('a memory limit that nothing fits, and then the page still segments', async () => {
    await openScan(page, scanPath);
    await page.getByLabel('Memory limit').fill('0.001');
    await page.getByLabel('Memory limit').blur();
    expect(await errorOf(page)).toMatch(/needs more than.*higher memory limit under Advanced/s);
    await page.getByLabel('Memory limit').fill('');
    await page.getByLabel('Memory limit').blur();
    await page.getByText('of memory').waitFor();
    await planned(page);
    await segment(page);
    expect(await page.locator('#message').isVisible()).toBe(false);
  });

  test('an engine that fails, and the next one goes on with the scan', async () => {
    await page.evaluate(() => {
      const post = Worker.prototype.postMessage;
      let failed = false;
      // The first engine that is asked for labels says that its memory is gone.
      Worker.prototype.postMessage = function (this: Worker, ...words: unknown[]) {
        const request = words[0] as { kind?: string };
        if (failed || request.kind !== 'segment') return Reflect.apply(post, this, words);
        failed = true;
        const data = { kind: 'failed', reason: 'out of memory', memory: true };
        return void this.dispatchEvent(new MessageEvent('message', { data }));
      };
    });
    await page.getByLabel('Engine', { exact: true }).selectOption('auto');
    await page.getByText(/(fastest of|only one that).* with ubique/).waitFor();
    await planned(page);
    await page.getByRole('button', { name: 'Segment' }).click();
    await page.getByText(/failed \(.*\); going on with/).waitFor();
    await page.waitForSelector('#cancel', { state: 'hidden' });
    expect(await page.locator('#summary').innerText()).toMatch(/^Segmented in/);
    expect(await page.locator('#message').isVisible()).toBe(false);
  });
});
