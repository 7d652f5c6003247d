// SPDX-License-Identifier: Apache-2.0
// What tests of scans compare with: ubique itself, and tensors in safetensors files.
import { execFileSync } from 'node:child_process';
import {
  existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll } from 'vitest';
import type { Shape3 } from '../../segment/src/model';

const web = resolve(import.meta.dirname, '../..');
export const ubiqueBinary = resolve(web, process.env.UBIQUE_BIN ?? '../build/cpu/bin/ubique');
export const goldens = resolve(web, '../../shared/golden/meshnet');

/** Whether it is there; where not, says once why tests are left out. */
export function isThere(path: string, what: string): boolean {
  if (existsSync(path)) return true;
  process.stderr.write(`left out: ${what} is not there (${path})\n`);
  return false;
}

export function ubique(...words: string[]): string {
  return execFileSync(ubiqueBinary, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

const folders: string[] = [];

/** A folder to fill, gone when the test file is done. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ubique-web-'));
  folders.push(folder);
  return folder;
}

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

export function scanFile(path: string): File {
  return new File([readFileSync(path)], path.split('/').pop() ?? path);
}

export interface Tensor {
  shape: number[];
  values: Float32Array | Uint8Array;
}

interface TensorEntry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

export function readSafetensors(path: string): {
  tensors: Map<string, Tensor>;
  metadata: Record<string, string>;
} {
  const bytes = new Uint8Array(readFileSync(path));
  const headerBytes = Number(new DataView(bytes.buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + headerBytes)));
  const tensors = new Map<string, Tensor>();
  for (const [name, value] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    const { dtype, shape, data_offsets: range } = value as TensorEntry;
    const part = bytes.slice(8 + headerBytes + range[0], 8 + headerBytes + range[1]);
    tensors.set(name, {
      shape,
      values: dtype === 'F32' ? new Float32Array(part.buffer) : part,
    });
  }
  return { tensors, metadata: header.__metadata__ ?? {} };
}

export interface Conformed {
  shape: number[];
  values: Float32Array;
  affine: number[]; // 16
}

/** The scan as ubique prepares it for a network with these settings. */
export function preparedByUbique(
  scan: string,
  conform: string,
  normalization: string,
  shape: Shape3,
  spacing: number | number[],
): Conformed {
  const folder = scratchFolder();
  mkdirSync(join(folder, 'study'));
  // A study must have masks; which ones is all the same here.
  const study = { num_samples: 1, image_paths: [scan], mask_paths: [scan] };
  writeFileSync(join(folder, 'study', 'dataset_info.json'), JSON.stringify(study));
  ubique(
    'data', 'meshnet', 'prepare', '-d', join(folder, 'study'), '--cache', join(folder, 'cache'),
    '--cache-dtype', 'f32', '--resample-method', conform, '--normalization', normalization,
    '--shape', shape.join(','), '--spacing', String(spacing), '--quiet',
  );
  const files = readdirSync(join(folder, 'cache'), { recursive: true, encoding: 'utf8' });
  const file = files.find((name) => name.endsWith('.safetensors'));
  if (!file) throw new Error(`ubique left no prepared scan in ${folder}: ${files.join(', ')}`);
  const { tensors, metadata } = readSafetensors(join(folder, 'cache', file));
  const image = tensors.get('image');
  if (!(image?.values instanceof Float32Array)) throw new Error('no f32 image in the cache');
  const affine = metadata.affine.split(' ').map(Number);
  return { shape: image.shape, values: image.values, affine };
}
