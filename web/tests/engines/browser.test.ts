// SPDX-License-Identifier: Apache-2.0
// The engines in a real browser: each against ubique's own numbers and the others, then tiles,
// cancelling, a lost graphics device, and pages that are not isolated.
import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { argmax } from '../../segment/src/engines/argmax';
import { checkOf, sameLabels } from '../../segment/src/engines/check';
import type { ChooseOptions, EngineId, LoadedModel } from '../../segment/src/engines';
import type { Manifest, Shape3 } from '../../segment/src/model';
import { goldens, isThere, scratchFolder, ubique, ubiqueBinary } from '../scans/ubique';
import { CHROMIUM, launch, serve } from '../chromium.mjs';
import { buildHarness } from './build-harness.mjs';
import type { Harness } from './harness/harness';
import { noiseVolume } from './toy-network';

const model =
  process.env.UBIQUE_WEB_NETWORK ?? resolve(goldens, '../../data/brainchop/models/model5_gw_ae');
const complete =
  isThere(CHROMIUM, 'Chromium') && isThere(ubiqueBinary, 'ubique') && isThere(model, 'the model');

const LONG: Shape3 = [128, 16, 16]; // longer than twice the halo: it can be divided
const CUBE: Shape3 = [40, 40, 40];
const bytes = (shape: Shape3) =>
  Buffer.from(noiseVolume(shape).values.map(Math.abs).buffer as ArrayBuffer);

type Graphics = 'none' | 'webgl' | 'webgpu'; // emulated

let page: string;
let folder: string;
let check: { shape: Shape3; labels: Uint8Array };
let browser: Browser;
const servers: { close: () => void }[] = [];

/** What ubique wrote of the model, and the labels that it gives for its own check. */
function readCheck(): Buffer {
  const manifest = JSON.parse(readFileSync(join(folder, 'ubique.json'), 'utf8')) as Manifest;
  const file = readFileSync(join(folder, manifest.check.file));
  const values = new Float32Array(new Uint8Array(file).buffer);
  const { volume, logits } = checkOf({ manifest, check: values } as LoadedModel);
  check = { shape: volume.shape, labels: argmax(logits, manifest.classes) };
  return Buffer.from(volume.values.buffer as ArrayBuffer);
}

async function open(graphics: Graphics, isolated = true): Promise<Page> {
  const mounts = {
    '/': page,
    '/model/': folder,
    '/check': readCheck(),
    '/long': bytes(LONG),
    '/cube': bytes(CUBE),
  };
  const server = await serve(mounts, { isolated });
  servers.push(server);
  browser = await launch(graphics);
  const tab = await browser.newPage();
  await tab.goto(server.origin);
  return tab;
}

async function run(tab: Page, path: string, shape: Shape3, options: ChooseOptions) {
  const outcome = await tab.evaluate(
    ([where, size, how]) =>
      (globalThis as unknown as { harness: Harness }).harness.run(
        '/model',
        { path: where, shape: size },
        how,
        1,
      ),
    [path, shape, options] as const,
  );
  const text = await tab.evaluate(() =>
    (globalThis as unknown as { harness: Harness }).harness.labels(),
  );
  return { ...outcome, labels: new Uint8Array(Buffer.from(text, 'base64')) };
}

describe.skipIf(!complete)('in a real browser', { timeout: 600_000 }, () => {
  beforeAll(async () => {
    page = await buildHarness();
    const exported = join(scratchFolder(), 'web');
    const words = ['--model', model, '--format', 'web', '--name', 'net', '-o', exported];
    ubique('export', 'meshnet', ...words);
    folder = join(exported, 'models', 'net');
  }, 600_000);
  afterEach(async () => {
    await browser.close();
    servers.splice(0).forEach((server) => server.close());
  });
  afterAll(() => rmSync(page, { recursive: true }));

  it.each<[EngineId, Graphics]>([
    ['planes-wasm', 'none'],
    ['ort-wasm', 'none'],
    ['tfjs-wasm', 'none'],
    ['tfjs-webgl', 'webgl'],
    ['ort-webgpu', 'webgpu'],
    ['tfjs-webgpu', 'webgpu'],
    ['tfjs-cpu', 'none'],
  ])('%s gives the labels of ubique', async (id, graphics) => {
    const tab = await open(graphics);
    const { choice, engine, labels } = await run(tab, '/check', check.shape, { only: [id] });
    expect(engine).toBe(id);
    expect(choice.verdicts[0]).toMatchObject({ id, state: 'ready' });
    expect(sameLabels(labels, check.labels)).toBeGreaterThanOrEqual(0.999);
  });

  it('the fastest that agrees is chosen among all, and the others are accounted for', async () => {
    const tab = await open('webgl');
    const { choice, engine, labels } = await run(tab, '/cube', CUBE, {});
    const ready = choice.verdicts.filter((verdict) => verdict.state === 'ready');
    expect(ready.map(({ id }) => id)).toContain(engine);
    expect(choice.verdicts.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['planes-wasm', 'ort-webgpu', 'ort-wasm', 'tfjs-wasm']),
    );
    const other = await run(tab, '/cube', CUBE, { only: ['ort-wasm'] });
    expect(sameLabels(labels, other.labels)).toBeGreaterThanOrEqual(0.999);
  });

  it('tiles give the labels of the whole', async () => {
    const tab = await open('none');
    const whole = await run(tab, '/long', LONG, { only: ['ort-wasm'] });
    const memoryLimit = whole.choice.peakBytes - 1;
    const parts = await run(tab, '/long', LONG, { only: ['ort-wasm'], memoryLimit });
    expect(whole.tiles).toBe(1);
    expect(parts.tiles).toBe(2);
    expect(parts.choice.peakBytes).toBeLessThanOrEqual(memoryLimit);
    expect(parts.labels).toEqual(whole.labels);
  });

  it('a run ends when it is cancelled, and the next one works', async () => {
    const tab = await open('none');
    const running = run(tab, '/cube', CUBE, { only: ['tfjs-cpu'] });
    const failed = expect(running).rejects.toThrow(/Cancelled/);
    await tab.waitForTimeout(1500);
    await tab.evaluate(() => (globalThis as unknown as { harness: Harness }).harness.cancel());
    await failed;
    expect((await run(tab, '/check', check.shape, { only: ['planes-wasm'] })).engine).toBe(
      'planes-wasm',
    );
  });

  it('a lost graphics device is noticed, and told', async () => {
    const tab = await open('webgl');
    const running = run(tab, '/cube', CUBE, { only: ['tfjs-webgl'] });
    const failed = expect(running).rejects.toThrow(
      /tfjs-webgl: the browser took the graphics device away/,
    );
    await tab.waitForFunction(() =>
      (globalThis as unknown as { harness: Harness }).harness.running(),
    );
    const session = await browser.newBrowserCDPSession();
    await session.send('Browser.crashGpuProcess' as never);
    await failed;
  });

  it('a page that is not isolated computes with one thread', async () => {
    const tab = await open('none', false);
    for (const id of ['planes-wasm', 'ort-wasm'] as EngineId[]) {
      const { choice, labels } = await run(tab, '/check', check.shape, { only: [id] });
      expect(JSON.stringify(choice.verdicts)).toMatch(/one thread/);
      expect(sameLabels(labels, check.labels)).toBeGreaterThanOrEqual(0.999);
    }
  });
});
