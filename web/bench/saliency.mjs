// SPDX-License-Identifier: Apache-2.0
// How long a map takes in a real browser on WebAssembly, from a picture's pixels on, for each frame
// that the model offers: in a page that is isolated, with all threads, and in one that is not, with
// one.
//
//   node bench/saliency.mjs --model DIR [--runs 3] [--json FILE]
//
// DIR is what `ubique export msinet --format web` wrote for a model, the folder with ubique.json.
import { rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { launch, serve } from '../tests/chromium.mjs';
import { buildHarness } from '../tests/engines/build-harness.mjs';
import { printRows } from './table.mjs';

const { values: options } = parseArgs({
  options: {
    model: { type: 'string' },
    runs: { type: 'string', default: '3' },
    json: { type: 'string' },
  },
});

async function measure(folder, model, isolated) {
  const server = await serve({ '/': folder, '/model/': model }, { isolated });
  const browser = await launch();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(0);
    await page.goto(server.origin);
    return await page.evaluate(
      (runs) => globalThis.harness.time('/model/', runs),
      Number(options.runs),
    );
  } finally {
    await browser.close();
    await server.close();
  }
}

const COLUMNS = [
  ['frame', (row) => row.size.join(' x ')],
  ['ms', (row) => row.milliseconds.toFixed(1)],
  ['maps/s', (row) => (1000 / row.milliseconds).toPrecision(3)],
  ['', (row) => row.title],
];

if (!options.model) {
  console.error('Which model? --model DIR, a folder that `ubique export --format web` wrote.');
  process.exit(2);
}
const folder = await buildHarness(new URL('../tests/saliency/harness', import.meta.url));
const rows = [];
for (const isolated of [false, true]) {
  const { title, times } = await measure(folder, resolve(options.model), isolated);
  for (const { size, milliseconds } of times) {
    rows.push({ title, size, milliseconds: Math.min(...milliseconds) });
  }
}
rmSync(folder, { recursive: true });
printRows(COLUMNS, rows);
if (options.json) writeFileSync(options.json, `${JSON.stringify(rows, null, 2)}\n`);
