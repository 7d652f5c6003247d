// SPDX-License-Identifier: Apache-2.0
// MeshNet as its definition reads, in 64-bit arithmetic, slowly; and small random networks and
// volumes to try engines with.
import type { LoadedModel, Volume } from '../../segment/src/engines/engine';
import type { Layer, Manifest, Shape3 } from '../../segment/src/model';

type Activation = Manifest['activation'];

export interface Recipe {
  channels: number;
  classes: number;
  dilations: number[];
  activation: Activation;
}

/** Numbers in [-1, 1) that are the same everywhere. */
export function noise(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

export function randomVolume(shape: Shape3, seed: number): Volume {
  const next = noise(seed);
  return { shape, values: Float32Array.from({ length: shape[0] * shape[1] * shape[2] }, next) };
}

export function randomModel(recipe: Recipe, seed: number): LoadedModel {
  const layers: Layer[] = [
    ...recipe.dilations.map((dilation) => ({ channels: recipe.channels, kernel: 3, dilation })),
    { channels: recipe.classes, kernel: 1, dilation: 1 },
  ];
  const next = noise(seed);
  const values: number[] = [];
  const entries: { name: string; shape: number[]; dtype: string }[] = [];
  let inputs = 1;
  for (const [i, { channels, kernel }] of layers.entries()) {
    const shape = [kernel, kernel, kernel, inputs, channels];
    const count = shape.reduce((a, b) => a * b);
    const scale = Math.sqrt(3 / (kernel ** 3 * inputs)); // keeps the size of activations
    for (let k = 0; k < count; ++k) values.push(scale * next());
    for (let k = 0; k < channels; ++k) values.push(0.2 * next());
    entries.push({ name: `conv${i}/kernel`, shape, dtype: 'float32' });
    entries.push({ name: `conv${i}/bias`, shape: [channels], dtype: 'float32' });
    inputs = channels;
  }
  return {
    manifest: manifestOf(recipe, layers, values.length),
    onnx: new Uint8Array(),
    tfjs: {
      document: { weightsManifest: [{ paths: ['model.bin'], weights: entries }] },
      weights: new Uint8Array(Float32Array.from(values).buffer),
    },
    check: new Float32Array(),
  };
}

function manifestOf(recipe: Recipe, layers: Layer[], parameters: number): Manifest {
  return {
    format: 'ubique.web-model',
    version: 1,
    family: 'meshnet',
    name: 'random',
    parameters,
    in_channels: 1,
    classes: recipe.classes,
    activation: recipe.activation,
    norm: 'none',
    layers,
    receptive_field: 1 + 2 * recipe.dilations.reduce((a, b) => a + b, 0),
    preprocessing: {
      conform: 'none',
      shape: [8, 8, 8],
      spacing: 1,
      normalization: 'none',
      low_quantile: 0,
      high_quantile: 1,
    },
    labels: Array.from({ length: recipe.classes }, (_, i) => ({
      name: `class ${i}`,
      colour: [i, i, i],
    })),
    check: { file: 'check.bin', shape: [1, 1, 1] },
    files: { onnx: 'model.onnx', tfjs: 'model.json' },
  };
}

/** 2 / sqrt(pi) times the integral of e^(-t^2) by its Taylor series, which alternates. */
function errorFunction(x: number): number {
  if (Math.abs(x) > 5) return Math.sign(x);
  let term = x;
  let sum = x;
  for (let n = 1; n < 120; ++n) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

const ACTIVATIONS: Record<Activation, (x: number) => number> = {
  relu: (x) => Math.max(0, x),
  elu: (x) => (x > 0 ? x : Math.expm1(x)),
  gelu: (x) => 0.5 * x * (1 + errorFunction(x / Math.SQRT2)),
  gelu_tanh: (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
};

/** Logits, (classes, D, H, W). */
export function referenceLogits(model: LoadedModel, volume: Volume): Float64Array {
  const { layers, activation } = model.manifest;
  const weights = new Float32Array(model.tfjs.weights.slice().buffer);
  let values = Float64Array.from(volume.values);
  let inputs = 1;
  let at = 0;
  for (const [i, layer] of layers.entries()) {
    const count = layer.kernel ** 3 * inputs * layer.channels;
    const kernel = weights.subarray(at, at + count);
    const biases = weights.subarray(at + count, (at += count + layer.channels));
    values = convolve(values, volume.shape, inputs, layer, kernel, biases);
    if (i + 1 < layers.length) values = values.map(ACTIVATIONS[activation]);
    inputs = layer.channels;
  }
  return values;
}

function convolve(
  values: Float64Array,
  [depth, height, width]: Shape3,
  inputs: number,
  { channels, kernel, dilation }: Layer,
  weights: Float32Array,
  biases: Float32Array,
): Float64Array<ArrayBuffer> {
  const voxels = depth * height * width;
  const out = new Float64Array(channels * voxels);
  const half = (kernel - 1) / 2;
  const inside = (at: number, size: number) => at >= 0 && at < size;
  for (let c = 0; c < channels; ++c) out.fill(biases[c], c * voxels, (c + 1) * voxels);
  for (let tap = 0; tap < kernel ** 3; ++tap) {
    const dz = (Math.floor(tap / kernel ** 2) - half) * dilation;
    const dy = ((Math.floor(tap / kernel) % kernel) - half) * dilation;
    const dx = ((tap % kernel) - half) * dilation;
    for (let voxel = 0; voxel < voxels; ++voxel) {
      const z = Math.floor(voxel / (height * width)) + dz;
      const y = (Math.floor(voxel / width) % height) + dy;
      const x = (voxel % width) + dx;
      if (!inside(z, depth) || !inside(y, height) || !inside(x, width)) continue;
      const from = (z * height + y) * width + x;
      for (let i = 0; i < inputs; ++i) {
        for (let c = 0; c < channels; ++c) {
          const weight = weights[(tap * inputs + i) * channels + c];
          out[c * voxels + voxel] += weight * values[i * voxels + from];
        }
      }
    }
  }
  return out;
}
