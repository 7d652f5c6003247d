// SPDX-License-Identifier: Apache-2.0
// How long each engine takes in a real browser, and how much memory: a synthetic head, one fresh
// headless Chromium per engine. BrainChop's way, TensorFlow.js layer by layer on WebAssembly, is
// what the others are compared with; its threads make no difference, as its convolution has none.
//
//   node bench/segment.mjs --model DIR [--large] [--graphics] [--sizes 64,128] [--json FILE]
//
// --large adds 256^3, --graphics the engines for graphics devices, slow where a device is emulated.
// DIR is what `ubique export meshnet --format web` wrote for a model, the folder with ubique.json.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { launch, serve } from '../tests/chromium.mjs';
import { buildHarness } from '../tests/engines/build-harness.mjs';
import { preparedHead } from './head.mjs';
import { PeakMemory } from './peak-memory.mjs';
import { printRows } from './table.mjs';

const BASELINE = 'tfjs-wasm';
const ENGINES = [BASELINE, 'ort-wasm', 'planes-wasm'];
const GRAPHICS = ['tfjs-webgl', 'tfjs-webgpu', 'ort-webgpu'];
const LARGE = ['ort-wasm', 'planes-wasm']; // the others take many minutes at 256^3
const SLOW = 15; // seconds; a run that takes longer is not repeated
const MEMORY_LIMIT = 4 * 2 ** 30;

const COLUMNS = [
  ['voxels', (row) => `${row.size}^3`],
  ['engine', (row) => row.engine],
  ['seconds', (row) => row.seconds?.toPrecision(3)],
  ['faster', (row) => row.times_faster && `${row.times_faster.toPrecision(3)}x`],
  ['peak MiB', (row) => row.peak_mib?.toFixed(0)],
  ['foretold', (row) => row.foretold_mib?.toFixed(0)],
  ['tiles', (row) => row.tiles],
  ['same labels', (row) => row.same_labels && `${(100 * row.same_labels).toFixed(3)} %`],
  ['', (row) => row.title ?? row.reason],
];

const { values: options } = parseArgs({
  options: {
    model: { type: 'string' },
    sizes: { type: 'string', default: '64,128' },
    engines: { type: 'string' }, // only these
    graphics: { type: 'boolean', default: false },
    large: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
});

/** One engine on one head in a browser of its own. */
async function measure(folder, model, head, engine) {
  const graphics = engine.endsWith('webgpu')
    ? 'webgpu'
    : engine.endsWith('webgl')
      ? 'webgl'
      : 'none';
  const mounts = { '/': folder, '/model/': model, '/head.f32': Buffer.from(head.values.buffer) };
  const server = await serve(mounts, { isolated: true });
  const browser = await launch(graphics);
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(0);
    await page.goto(server.origin);
    const memory = await PeakMemory.of(browser);
    const run = (runs) =>
      page.evaluate(
        ([shape, only, limit, times]) =>
          globalThis.harness.run(
            '/model',
            { path: '/head.f32', shape },
            { only, memoryLimit: limit },
            times,
          ),
        [head.shape, [engine], MEMORY_LIMIT, runs],
      );
    const outcome = await run(1).finally(() => memory.stop());
    const peak = memory.grown;
    const seconds = outcome.seconds.concat(outcome.seconds[0] < SLOW ? (await run(1)).seconds : []);
    const labels = Buffer.from(await page.evaluate(() => globalThis.harness.labels()), 'base64');
    return { outcome, seconds: Math.min(...seconds), peak, labels };
  } finally {
    await browser.close();
    server.close();
  }
}

function row(engine, size, { outcome, seconds, peak, labels }, baseline) {
  const { verdicts, peakBytes } = outcome.choice;
  return {
    engine,
    title: verdicts[0].title,
    size,
    seconds,
    times_faster: baseline ? baseline.seconds / seconds : null,
    peak_mib: peak / 2 ** 20,
    foretold_mib: peakBytes / 2 ** 20,
    tiles: outcome.tiles,
    same_labels: baseline ? agreement(labels, baseline.labels) : null,
  };
}

function agreement(a, b) {
  let same = 0;
  for (let i = 0; i < a.length; ++i) if (a[i] === b[i]) ++same;
  return same / a.length;
}

async function measureSize(folder, model, size, engines) {
  const { preprocessing } = JSON.parse(readFileSync(`${model}/ubique.json`, 'utf8'));
  const head = await preparedHead(size, preprocessing);
  const rows = [];
  let baseline = null;
  for (const engine of engines) {
    try {
      const measured = await measure(folder, model, head, engine);
      baseline ??= measured; // the first: BrainChop's way where it is among them
      rows.push(row(engine, size, measured, baseline));
    } catch (error) {
      rows.push({ engine, size, reason: error.message.split('\n')[0] });
    }
  }
  return rows;
}

if (!options.model) {
  console.error('Which model? --model DIR, a folder that `ubique export --format web` wrote.');
  process.exit(2);
}
const model = resolve(options.model);
const folder = await buildHarness();
const engines = options.engines?.split(',') ?? [...ENGINES, ...(options.graphics ? GRAPHICS : [])];
const rows = [];
for (const size of options.sizes.split(',').map(Number)) {
  rows.push(...(await measureSize(folder, model, size, engines)));
}
if (options.large) rows.push(...(await measureSize(folder, model, 256, LARGE)));
rmSync(folder, { recursive: true });
printRows(COLUMNS, rows);
if (options.json) writeFileSync(options.json, `${JSON.stringify(rows, null, 2)}\n`);
