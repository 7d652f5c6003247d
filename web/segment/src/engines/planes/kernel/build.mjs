// SPDX-License-Identifier: Apache-2.0
// Compiles the kernel in four forms: with fused multiply-adds and without, for memory that threads
// share and for memory of one's own.
import { mkdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, '../../../../../../build/web/kernels');

async function compile(name, features, flags) {
  // The compiler wants names relative to where it runs.
  const entry = relative(process.cwd(), join(here, 'planes.as.ts'));
  const options = ['--importMemory', '--initialMemory', '1', '--maximumMemory', '65536', '-O3',
    '--noAssert', '--runtime', 'stub', '--enable', features, ...flags];
  const { error, stderr } = await asc.main([entry, '-o', join(out, `${name}.wasm`), ...options]);
  const said = stderr.toString();
  if (error || said) throw new Error(`${name}.wasm could not be compiled:\n${said}`);
}

mkdirSync(out, { recursive: true });
for (const [form, features] of [['fused', 'simd,relaxed-simd'], ['plain', 'simd']]) {
  await compile(form, features, []);
  await compile(`${form}-shared`, `${features},threads`, ['--sharedMemory']);
}
