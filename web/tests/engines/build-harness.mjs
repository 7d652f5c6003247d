// SPDX-License-Identifier: Apache-2.0
// Builds a harness page, which runs engines without the page around them. Used by the tests and the
// benchmarks.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

/** Into a fresh folder; `harness` is the folder of its index.html. */
export async function buildHarness(harness = new URL('./harness', import.meta.url)) {
  const outDir = mkdtempSync(join(tmpdir(), 'ubique-engines-'));
  await build({
    configFile: false,
    root: fileURLToPath(harness),
    base: './',
    logLevel: 'error',
    worker: { format: 'es' },
    build: { outDir, emptyOutDir: true, target: 'es2022', chunkSizeWarningLimit: 4096 },
  });
  return outDir;
}
