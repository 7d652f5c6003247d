// SPDX-License-Identifier: Apache-2.0
// Whether an engine computes what ubique computes: the model brings a small volume of noise with
// the logits that ubique gave for it. Knows engines only by their interface.
import type { Engine, LoadedModel, Volume } from './engine';
import { argmax } from './argmax';
import { voxelsOf } from './shape';

const TOLERANCE = 1e-4; // of the largest logit, for engines that compute in 32 bits
const LABELS = 0.999; // of the voxels, for those that have only 16

export interface Judgement {
  agrees: boolean;
  difference: number; // largest, relative to the largest logit
  agreement: number; // part of the voxels with the same label
}

/** The model's own test volume and the logits that belong to it. */
export function checkOf(model: LoadedModel): { volume: Volume; logits: Float32Array } {
  const { check, classes, in_channels } = model.manifest;
  const inputs = voxelsOf(check.shape) * in_channels;
  const expected = inputs + voxelsOf(check.shape) * classes;
  if (model.check.length !== expected) {
    throw new Error(
      `${check.file} holds ${model.check.length} values where ${expected} were expected: ` +
        'the model folder is incomplete, export it again.',
    );
  }
  return {
    volume: { shape: check.shape, values: model.check.slice(0, inputs) },
    logits: model.check.subarray(inputs),
  };
}

export function compare(
  logits: Float32Array,
  expected: Float32Array,
  classes: number,
  halfPrecision: boolean,
): Judgement {
  if (logits.length !== expected.length)
    return { agrees: false, difference: Infinity, agreement: 0 };
  let largest = 0;
  let worst = 0;
  for (let i = 0; i < expected.length; ++i) {
    largest = Math.max(largest, Math.abs(expected[i]));
    const difference = Math.abs(logits[i] - expected[i]);
    if (Number.isNaN(difference)) return { agrees: false, difference: Infinity, agreement: 0 };
    worst = Math.max(worst, difference);
  }
  const difference = largest > 0 ? worst / largest : worst;
  const agreement = sameLabels(argmax(logits, classes), argmax(expected, classes));
  const agrees = difference <= TOLERANCE || (halfPrecision && agreement >= LABELS);
  return { agrees, difference, agreement };
}

export function sameLabels(a: Uint8Array, b: Uint8Array): number {
  let same = 0;
  for (let i = 0; i < a.length; ++i) if (a[i] === b[i]) ++same;
  return a.length === b.length ? same / Math.max(1, a.length) : 0;
}

export async function judge(engine: Engine, model: LoadedModel): Promise<Judgement> {
  const { volume, logits } = checkOf(model);
  const given = await engine.logits(volume);
  return compare(given, logits, model.manifest.classes, engine.halfPrecision ?? false);
}
