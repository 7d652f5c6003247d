// SPDX-License-Identifier: Apache-2.0
// What people do wrong, or others did to their files: each gets one message that says what to do,
// and the page goes on working.
import { cpSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Manifest } from '../../saliency/src/model';
import { type StaticServer, launch, serve } from '../chromium.mjs';
import { errorOf, picture } from '../page/browser';
import { scratchFolder } from '../scans/ubique';
import { canRun, drop, looked, openPicture, pageFolder, picturePath, visit } from './browser';

describe.skipIf(!canRun())('a message that says what to do comes for', () => {
  const folder = scratchFolder();
  let browser: Browser;
  let server: StaticServer;
  let page: Page; // one person makes all of these mistakes
  beforeAll(async () => {
    [browser, server] = await Promise.all([launch(), serve({ '/': pageFolder })]);
    ({ page } = await visit(browser, `${server.origin}/`));
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  async function messageFor(name: string, bytes: Uint8Array | string): Promise<string> {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    await page.locator('#picture-files').setInputFiles(path);
    const message = await errorOf(page);
    await page.getByRole('button', { name: 'Close this message' }).click();
    return message;
  }

  /** The exported model, in a folder of its own and changed. */
  function copiedModel(change: (manifest: Manifest, model: string) => void): string {
    const models = join(pageFolder, 'models');
    const [name] = readdirSync(models).filter((entry) => entry !== 'index.json');
    const copy = join(scratchFolder(), name);
    cpSync(join(models, name), copy, { recursive: true });
    const path = join(copy, 'ubique.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
    change(manifest, copy);
    writeFileSync(path, JSON.stringify(manifest));
    return copy;
  }

  test('files that are no pictures, by what they look like', async () => {
    expect(await messageFor('notes.txt', 'dear diary')).toMatch(/notes.txt is not a picture.*PNG/);
    expect(await messageFor('empty.png', '')).toMatch(/is empty/);
    expect(await messageFor('a.pdf', '%PDF-1.7')).toMatch(/PDF document: save the page as PNG/);
    expect(await messageFor('a.jpg', '\0\0\0\x18ftypheic')).toMatch(/HEIC photo: export it/);
    expect(await messageFor('a.mp4', '\0\0\0\x18ftypisom')).toMatch(/a video: take a picture/);
    expect(await page.locator('#pictures').isVisible()).toBe(false);
  });

  test('pictures that are cut short or too large', async () => {
    const whole = readFileSync(picturePath);
    expect(await messageFor('short.png', whole.subarray(0, 60))).toMatch(/damaged or cut short/);
    const path = join(folder, 'huge.png');
    writeFileSync(path, '');
    truncateSync(path, 500e6); // holes take no room
    await page.locator('#picture-files').setInputFiles(path);
    expect(await errorOf(page)).toMatch(/too large for this page: 500 MB.*ubique run msinet/);
    rmSync(path);
    await page.evaluate(() => {
      const decode = globalThis.createImageBitmap;
      globalThis.createImageBitmap = async (...words: unknown[]) => {
        globalThis.createImageBitmap = decode;
        const bitmap = await Reflect.apply(decode, globalThis, words);
        Object.defineProperty(bitmap, 'width', { value: 30000 });
        return Object.defineProperty(bitmap, 'height', { value: 4000 });
      };
    });
    await page.locator('#picture-files').setInputFiles(picturePath);
    await page.getByText(/30000 × 4000 is 120 megapixels, and at most 100/).waitFor();
  });

  test('a wrong file among others, which are shown', async () => {
    await drop(page, [
      ['wrong.txt', Buffer.from('no picture')],
      ['right.png', readFileSync(picturePath)],
    ]);
    await looked(page, 'right');
    expect(await errorOf(page)).toMatch(/wrong.txt is not a picture/);
    await picture(page, 'saliency-error');
  });

  test('models of another family, cut short or lacking a file; the one before stays', async () => {
    const add = (model: string) => page.locator('#model-files').setInputFiles(model);
    await add(copiedModel((manifest) => Object.assign(manifest, { family: 'meshnet' })));
    await page.getByText(/family is 'meshnet', expected 'msinet'/).waitFor();
    await add(copiedModel((manifest, model) => truncateSync(join(model, manifest.check.file), 8)));
    await page.getByText(/has 8 bytes, expected \d+/).waitFor();
    await add(copiedModel((manifest, model) => rmSync(join(model, manifest.files.onnx))));
    await page.getByText(/lacks the file \S+\.onnx/).waitFor();
    await openPicture(page, picturePath);
    expect(await page.locator('#message').isVisible()).toBe(false);
  });

  test('a model whose maps are not those of ubique', async () => {
    const wrong = copiedModel((manifest, model) => {
      const path = join(model, manifest.check.file);
      const bytes = readFileSync(path);
      bytes.writeFloatLE(bytes.readFloatLE(bytes.length - 4) + 0.1, bytes.length - 4);
      writeFileSync(path, bytes);
    });
    await page.locator('#model-files').setInputFiles(wrong);
    expect(await errorOf(page)).toMatch(/No engine.*ort-wasm: gives other maps than ubique/s);
    await page.getByText('The model before stays in use.').waitFor();
    await openPicture(page, picturePath);
  });

  test('a browser that alters pixels, as a note', async () => {
    await page.evaluate(() => {
      const read = CanvasRenderingContext2D.prototype.getImageData;
      CanvasRenderingContext2D.prototype.getImageData = function (...words: unknown[]) {
        const image = Reflect.apply(read, this, words) as ImageData;
        for (let i = 0; i < image.data.length; ++i) if (i % 4 < 3) image.data[i] ^= 0x60;
        return image;
      };
    });
    await page.getByText('Advanced').click();
    await page.getByLabel('Engine', { exact: true }).selectOption('ort-wasm');
    await page.getByText(/alters the pixels.*Allow this page to read canvases/s).waitFor();
  });

  test('a page that is opened from a file', async () => {
    const other = await browser.newPage();
    await other.goto(pathToFileURL(join(pageFolder, 'index.html')).href);
    const text = await other.locator('body').innerText();
    expect(text).toMatch(/python3 -m http\.server -d DIR/);
    expect(text).not.toMatch(/Choose pictures/);
    await other.close();
  });
});

describe.skipIf(!canRun())('an engine', () => {
  let server: StaticServer;
  beforeAll(async () => {
    server = await serve({ '/': pageFolder });
  });
  afterAll(() => server?.close());

  test('that loses its device is followed by the next', async () => {
    const browser = await launch();
    const context = await browser.newContext();
    await context.addInitScript(() => {
      const post = Worker.prototype.postMessage;
      const fake = new WeakSet<Worker>(); // pretend to have a graphics device, until it is used
      Worker.prototype.postMessage = function (this: Worker, ...words: unknown[]) {
        const request = words[0] as { kind: string; id?: string };
        if (request.id === 'ort-webgpu') fake.add(this);
        if (!fake.has(this)) return Reflect.apply(post, this, words);
        const answers: Record<string, unknown> = {
          load: { kind: 'done', value: { title: 'pretended', difference: 0, agrees: true } },
          trial: { kind: 'done', value: 1e-9 },
          look: { kind: 'failed', reason: 'device lost', memory: false },
        };
        return void this.dispatchEvent(
          new MessageEvent('message', { data: answers[request.kind] }),
        );
      };
    });
    const page = await context.newPage();
    await page.goto(`${server.origin}/`);
    await page.getByText(/WebGPU failed \(device lost\); going on with .*WebAssembly/).waitFor();
    await page.waitForSelector('#engines-fold:not([hidden])');
    expect(await page.locator('#plan').innerText()).toMatch(/^Ready: onnxruntime-web on WebAssembly/);
    await openPicture(page, picturePath);
    expect(await page.locator('#message').isVisible()).toBe(false);
    await browser.close();
  });

  test('on WebGPU gives the maps of ubique', async () => {
    const browser = await launch('webgpu'); // which is emulated here, and slow
    const { page } = await visit(browser, `${server.origin}/`, { wait: false });
    page.setDefaultTimeout(0);
    await page.getByText('Advanced').click();
    await page.getByLabel('Engine', { exact: true }).selectOption('ort-webgpu');
    await page.locator('#plan', { hasText: /WebGPU, agrees with ubique/ }).waitFor();
    expect(await page.locator('#notes').isVisible()).toBe(false);
    await browser.close();
  }, 600_000);
});
