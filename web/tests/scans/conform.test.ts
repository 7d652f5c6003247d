// SPDX-License-Identifier: Apache-2.0
// Scans prepared in the browser's code against the same prepared by ubique, and against recorded
// results of SciPy and nibabel.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Preprocessing, Shape3 } from '../../segment/src/model';
import { prepare } from '../../segment/src/scans/conform';
import { makeHead } from '../../segment/src/scans/head';
import { niftiBytes } from '../../segment/src/scans/nifti-writer';
import { readScan } from '../../segment/src/scans/scan';
import {
  goldens, isThere, preparedByUbique, readSafetensors, scanFile, scratchFolder, ubique,
  ubiqueBinary,
} from './ubique';

function how(
  conform: Preprocessing['conform'],
  normalization: Preprocessing['normalization'],
  shape: Shape3,
  spacing: Preprocessing['spacing'],
): Preprocessing {
  return { conform, normalization, shape, spacing, low_quantile: 0.05, high_quantile: 0.95 };
}

function largestDifference(a: Float32Array, b: Float32Array): number {
  expect(a.length).toBe(b.length);
  let largest = 0;
  for (let i = 0; i < a.length; ++i) largest = Math.max(largest, Math.abs(a[i] - b[i]));
  return largest;
}

describe.skipIf(!isThere(goldens, 'the recorded results'))('recorded results', () => {
  const cases: [string, string, number][] = [
    ['prep_a', '48x48x48_1mm', 1e-4],
    ['prep_b', '32x36x30_1mm', 1e-4],
    ['prep_c', '24x26x25_1mm', 2e-4],
  ];
  for (const [name, target, tolerance] of cases) {
    for (const method of ['scipy_zoom', 'nibabel_conform'] as const) {
      test(`${method} of ${name} gives the values of the original`, async () => {
        const scan = await readScan(scanFile(join(goldens, `${name}_image.nii.gz`)), name);
        const about = JSON.parse(readFileSync(join(goldens, `${name}.json`), 'utf8'));
        const shape = about.targets[target].target_shape as Shape3;
        const { tensors } = readSafetensors(join(goldens, `${name}_${target}.safetensors`));
        const expected = tensors.get(`${method}.image_before_norm`)?.values as Float32Array;
        const { values } = prepare(scan, how(method, 'none', shape, 1));
        expect(largestDifference(values, expected)).toBeLessThanOrEqual(tolerance);
      });
    }
  }

  test('scipy_zoom to another spacing along each axis gives the original values', async () => {
    const scan = await readScan(scanFile(join(goldens, 'prep_a_image.nii.gz')), 'prep_a');
    const { tensors } = readSafetensors(join(goldens, 'prep_a_36x52x40_1p3mm.safetensors'));
    const expected = tensors.get('scipy_zoom.image_before_norm')?.values as Float32Array;
    const { values } = prepare(scan, how('scipy_zoom', 'none', [36, 52, 40], [1.3, 0.8, 1.25]));
    expect(largestDifference(values, expected)).toBeLessThanOrEqual(1e-4);
  });

  test('min-max of a zoomed scan gives the values of the original', async () => {
    const scan = await readScan(scanFile(join(goldens, 'prep_a_image.nii.gz')), 'prep_a');
    const { tensors } = readSafetensors(join(goldens, 'prep_a_48x48x48_1mm.safetensors'));
    const expected = tensors.get('scipy_zoom.image')?.values as Float32Array;
    const { values } = prepare(scan, how('scipy_zoom', 'min_max', [48, 48, 48], 1));
    expect(largestDifference(values, expected)).toBeLessThanOrEqual(1e-6);
  });
});

/** A head whose axes lie askew in the scanner. */
function obliqueHead(): Uint8Array {
  const head = makeHead({ size: 24, seed: 3 });
  const { volume, header } = head;
  const [cosine, sine] = [Math.cos(0.3), Math.sin(0.3)];
  const affine = structuredClone(volume.affine);
  affine[0] = [8 * cosine, 0.4, -8 * sine, -60];
  affine[2] = [8 * sine, 0.3, 8 * cosine, -110];
  return niftiBytes({ ...volume, affine }, header);
}

describe.skipIf(!isThere(ubiqueBinary, 'ubique'))('ubique itself', () => {
  const scans = new Map<string, string>();
  beforeAll(() => {
    const folder = scratchFolder();
    ubique('data', 'meshnet', 'synth', '-o', folder, '--count', '2', '--size', '32', '--quiet');
    scans.set('a head in any axes', join(folder, 'images/head_0000.nii.gz'));
    scans.set('another head', join(folder, 'images/head_0001.nii.gz'));
    scans.set('an oblique head', join(folder, 'oblique.nii'));
    writeFileSync(join(folder, 'oblique.nii'), obliqueHead());
  });

  for (const name of ['a head in any axes', 'another head', 'an oblique head']) {
    for (const method of ['scipy_zoom', 'nibabel_conform', 'brainchop', 'none'] as const) {
      test(`${name} conformed by ${method} has the same values and place`, async () => {
        const path = scans.get(name) ?? '';
        const spacing: Preprocessing['spacing'] = name === 'another head' ? [5, 6, 5.5] : 5.5;
        const expected = preparedByUbique(path, method, 'none', [36, 30, 33], spacing);
        const scan = await readScan(scanFile(path), name);
        const got = prepare(scan, how(method, 'none', [36, 30, 33], spacing));
        expect(got.shape).toEqual(expected.shape);
        expect(largestDifference(got.values, expected.values)).toBeLessThanOrEqual(1e-3);
        const affine = Float32Array.from(got.affine.flat());
        expect(largestDifference(affine, Float32Array.from(expected.affine))).toBeLessThan(1e-4);
      });
    }
  }

  for (const normalization of ['min_max', 'quantile', 'z_score'] as const) {
    test(`a head normalised by ${normalization} has the same values`, async () => {
      const path = scans.get('another head') ?? '';
      const expected = preparedByUbique(path, 'scipy_zoom', normalization, [32, 32, 32], 6);
      const scan = await readScan(scanFile(path), 'another head');
      const got = prepare(scan, how('scipy_zoom', normalization, [32, 32, 32], 6));
      expect(largestDifference(got.values, expected.values)).toBeLessThanOrEqual(1e-6);
    });
  }
});
