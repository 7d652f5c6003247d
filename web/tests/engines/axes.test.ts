// SPDX-License-Identifier: Apache-2.0
// A network that learned in RAS, written for BrainChop, whose heads lie in LIA: TensorFlow.js must
// label the turned head as `ubique run` labels the head itself.
import { describe, expect, it } from 'vitest';
import { sameLabels } from '../../segment/src/engines/check';
import type { Preprocessing } from '../../segment/src/model';
import { prepare } from '../../segment/src/scans/conform';
import { inverseMoves, moveAxes, movesTo } from '../../segment/src/scans/orientation';
import { readScan } from '../../segment/src/scans/scan';
import { isThere, scanFile } from '../scans/ubique';
import { type LayersDocument, engineFor, exportTfjs, loaded } from './node-tfjs';

const network = process.env.UBIQUE_WEB_NETWORK ?? '';
const scanPath = process.env.UBIQUE_WEB_SCAN ?? '';
const labelsPath = (process.env.UBIQUE_WEB_LABELS ?? '').replace('_labels.', '_labels_conformed.');
const complete =
  isThere(network, 'a network') && isThere(scanPath, 'a scan') && isThere(labelsPath, 'its labels');

function preprocessingOf({ userDefinedMetadata }: LayersDocument): Preprocessing {
  return JSON.parse(userDefinedMetadata?.meshnet_config ?? '{}').preprocessing;
}

async function labelsInBrowserAxes(...options: string[]): Promise<Uint8Array> {
  const model = exportTfjs(network, ...options);
  const head = prepare(await readScan(scanFile(scanPath), scanPath), preprocessingOf(model.document));
  const moves = movesTo(head.affine, 'LIA');
  const turned = moveAxes(head, moves);
  const engine = await engineFor(loaded(model));
  const values = await engine.labels({ shape: turned.shape, values: turned.values });
  return moveAxes({ ...turned, values }, inverseMoves(moves)).values;
}

describe.skipIf(!complete)('a head in the axes of BrainChop', { timeout: 600_000 }, () => {
  it('gets the labels of ubique from turned kernels, and others from kernels as they were', async () => {
    const { volume } = await readScan(scanFile(labelsPath), labelsPath);
    const expected = Uint8Array.from(volume.values);
    expect(new Set(expected).size).toBeGreaterThan(4);
    expect(sameLabels(await labelsInBrowserAxes(), expected)).toBeGreaterThanOrEqual(0.9999);
    expect(sameLabels(await labelsInBrowserAxes('--axes', 'own'), expected)).toBeLessThan(0.9999);
  });
});
