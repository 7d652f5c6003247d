// SPDX-License-Identifier: Apache-2.0
// The network's layers with their weights, as the kernel wants them. Knows the manifest and the
// TensorFlow.js files, nothing of memory or threads.
import type { LoadedModel } from '../engine';
import type { Manifest } from '../../model';

export type Activation = Manifest['activation'] | 'none';

export interface PlanesLayer {
  kernel: number; // voxels along each axis, 1 or 3
  dilation: number;
  inputs: number;
  outputs: number;
  activation: Activation;
  weights: Float32Array; // block by block (kernel, kernel, inputs, kernel, outputs of the block)
  mixed: Float32Array; // the same for the six mixes of winograd.as.ts; empty for kernel 1
  biases: Float32Array; // (outputs)
}

interface WeightEntry {
  name: string;
  shape: number[];
  dtype: string;
}

/** The layers, or in words why this engine cannot run them. */
export function readNetwork(model: LoadedModel): PlanesLayer[] | string {
  const { manifest } = model;
  const reason = refusal(manifest);
  if (reason !== null) return reason;
  const entries = entriesOf(model.tfjs.document);
  const read = floatReader(model.tfjs.weights);
  let inputs = manifest.in_channels;
  const layers: PlanesLayer[] = [];
  for (const [i, { channels, kernel, dilation }] of manifest.layers.entries()) {
    const expected = [[kernel, kernel, kernel, inputs, channels], [channels]];
    const wrong = mismatch(entries.slice(2 * i, 2 * i + 2), expected);
    if (wrong !== null) return `model.json does not fit ubique.json: ${wrong}`;
    const values = read(kernel ** 3 * inputs * channels);
    const biases = read(channels);
    if (values === null || biases === null) return 'the weight file is too short: export it again';
    layers.push({
      kernel,
      dilation,
      inputs,
      outputs: channels,
      activation: i + 1 < manifest.layers.length ? manifest.activation : 'none',
      weights: pack(values, kernel * kernel, kernel, inputs, channels),
      mixed: kernel === 3 ? mix(values, inputs, channels) : new Float32Array(),
      biases,
    });
    inputs = channels;
  }
  return layers;
}

function refusal(manifest: Manifest): string | null {
  if (manifest.norm !== 'none') {
    return `${manifest.norm} norm needs whole volumes, and this engine sees a few planes at a time`;
  }
  if (manifest.in_channels !== 1) return `takes one input channel, not ${manifest.in_channels}`;
  if (manifest.classes > 256) return `gives at most 256 labels, not ${manifest.classes}`;
  const other = manifest.layers.find(({ kernel }) => kernel !== 1 && kernel !== 3);
  if (other) return `takes kernels of 1 or 3 voxels, not ${other.kernel}`;
  return null;
}

function entriesOf(document: unknown): WeightEntry[] {
  const groups = (document as { weightsManifest?: { weights: WeightEntry[] }[] }).weightsManifest;
  return (groups ?? []).flatMap((group) => group.weights);
}

function mismatch(entries: WeightEntry[], expected: number[][]): string | null {
  for (const [i, shape] of expected.entries()) {
    const entry = entries[i];
    if (!entry) return `a weight of shape ${shape.join('x')} is missing`;
    if (entry.dtype !== 'float32') return `${entry.name} is ${entry.dtype}, not float32`;
    if (entry.shape.join() !== shape.join()) {
      return `${entry.name} is ${entry.shape.join('x')}, expected ${shape.join('x')}`;
    }
  }
  return null;
}

/** Little-endian floats one after another; the bytes may begin anywhere. */
function floatReader(bytes: Uint8Array): (count: number) => Float32Array | null {
  const floats = new Float32Array(bytes.slice(0, bytes.length & ~3).buffer);
  let at = 0;
  return (count) => {
    const part = floats.slice(at, (at += count));
    return part.length === count ? part : null;
  };
}

/** Sizes of the blocks in which outputs are computed: at most six each, the larger ones first. */
export function blocksOf(outputs: number): number[] {
  const count = Math.ceil(outputs / 6);
  return Array.from({ length: count }, (_, i) => Math.ceil((outputs - i) / count));
}

/** From (rows, kernel, inputs, outputs) to the order in which the kernel reads. */
function pack(
  values: Float32Array,
  rows: number,
  kernel: number,
  inputs: number,
  outputs: number,
): Float32Array {
  const packed = new Float32Array(values.length);
  let to = 0;
  let first = 0;
  for (const size of blocksOf(outputs)) {
    for (let row = 0; row < rows; ++row) {
      for (let input = 0; input < inputs; ++input) {
        for (let x = 0; x < kernel; ++x) {
          const from = ((row * kernel + x) * inputs + input) * outputs + first;
          packed.set(values.subarray(from, from + size), to);
          to += size;
        }
      }
    }
    first += size;
  }
  return packed;
}

/** Of the weights above, at and below a row, as F(4, 3) multiplies them. */
const MIXES = [
  [1 / 4, 0, 0],
  [-1 / 6, -1 / 6, -1 / 6],
  [-1 / 6, 1 / 6, -1 / 6],
  [1 / 24, 1 / 12, 1 / 6],
  [1 / 24, -1 / 12, 1 / 6],
  [0, 0, 1],
];

/** From (3, 3, 3, inputs, outputs) to six times (3, inputs, 3, outputs), each packed. */
function mix(values: Float32Array, inputs: number, outputs: number): Float32Array {
  const row = 3 * inputs * outputs;
  const mixed = new Float32Array(MIXES.length * 3 * row);
  for (const [m, factors] of MIXES.entries()) {
    const plane = new Float32Array(3 * row);
    for (let i = 0; i < plane.length; ++i) {
      const at = Math.floor(i / row) * 3 * row + (i % row);
      plane[i] = factors.reduce((sum, factor, y) => sum + factor * values[at + y * row], 0);
    }
    mixed.set(pack(plane, 3, 3, inputs, outputs), m * plane.length);
  }
  return mixed;
}
