// SPDX-License-Identifier: Apache-2.0
// Labels brought back to the scan's own grid, and the files they are written to, against what
// `ubique run` makes of the same scans with a network of a few steps.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { prepare } from '../../segment/src/scans/conform';
import type { LabelGrid } from '../../segment/src/scans/grid';
import { toNative } from '../../segment/src/scans/native';
import { gzipped, niftiBytes } from '../../segment/src/scans/nifti-writer';
import { type Scan, readScan } from '../../segment/src/scans/scan';
import { isThere, scanFile, scratchFolder, ubique, ubiqueBinary } from './ubique';

async function readLabels(path: string): Promise<LabelGrid> {
  const { volume } = await readScan(scanFile(path), path);
  return { ...volume, values: Uint8Array.from(volume.values) };
}

const methods = ['scipy_zoom', 'nibabel_conform', 'brainchop'] as const;
const preprocessing = {
  spacing: 9,
  normalization: 'min_max' as const,
  low_quantile: 0.05,
  high_quantile: 0.95,
};

describe.skipIf(!isThere(ubiqueBinary, 'ubique'))('labels of ubique', () => {
  const folder = scratchFolder();
  const labels = (method: string, kind: string) =>
    join(folder, method, `head_0004_labels${kind}.nii.gz`);
  let scan: Scan;

  beforeAll(async () => {
    const heads = join(folder, 'heads');
    ubique('data', 'meshnet', 'synth', '-o', heads, '--count', '9', '--size', '24', '--quiet');
    const path = join(heads, 'images/head_0004.nii.gz');
    for (const method of methods) {
      const run = join(folder, `run_${method}`);
      ubique(
        'train', 'meshnet', '-d', join(heads, 'dataset_info_tissue.json'), '-o', run,
        '--channels', '5', '--classes', '7', '--dilations', '1,2', '--shape', '20,22,24',
        '--spacing', '9', '--epochs', '3', '--lr', '0.02',
        '--cache', join(folder, 'cache'), '--quiet', '--resample-method', method,
      );
      ubique(
        'run', 'meshnet', path, '--model', join(run, 'checkpoints/best'), '-o',
        join(folder, method), '--space', 'both', '--no-overlay', '--quiet',
      );
    }
    scan = await readScan(scanFile(path), path);
  }, 60_000);

  for (const method of methods) {
    test(`from a cube made by ${method} every voxel of the scan gets the same label`, async () => {
      const { values, shape } = await readLabels(labels(method, '_conformed'));
      const expected = await readLabels(labels(method, ''));
      const { affine } = prepare(scan, { ...preprocessing, conform: method, shape }); // unrounded
      const native = toNative({ shape, affine, values }, scan.volume.shape, scan.volume.affine);
      expect(new Set(native.values).size).toBeGreaterThan(2);
      expect(Buffer.compare(native.values, expected.values)).toBe(0);
    });
  }

  test('are written with the header and bytes that ubique writes', async () => {
    const path = labels('scipy_zoom', '');
    const file = await gzipped(niftiBytes(await readLabels(path), scan.header));
    const got = gunzipSync(Buffer.from(await file.arrayBuffer()));
    expect(Buffer.compare(got, gunzipSync(readFileSync(path)))).toBe(0);
  });
});
