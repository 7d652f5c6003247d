// SPDX-License-Identifier: Apache-2.0
// A small network of random weights as `ubique export --format web` would write it, without ONNX,
// and volumes of noise. For tests that need a network but not a trained one.
import type { LoadedModel, Volume } from '../../segment/src/engines/engine';
import { voxelsOf } from '../../segment/src/engines/shape';
import type { Layer, Manifest, Shape3 } from '../../segment/src/model';

/** Numbers in [-1, 1) that are the same in every run. */
export function noise(count: number, seed: number): Float32Array {
  let state = seed >>> 0;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

export function noiseVolume(shape: Shape3, seed = 1): Volume {
  return { shape, values: noise(voxelsOf(shape), seed) };
}

const CLASSES = 3;
export const LAYERS: Layer[] = [
  { channels: 4, kernel: 3, dilation: 1 },
  { channels: 4, kernel: 3, dilation: 2 },
  { channels: CLASSES, kernel: 1, dilation: 1 },
];

function manifestOf(norm: Manifest['norm']): Manifest {
  return {
    format: 'ubique.web-model',
    version: 1,
    family: 'meshnet',
    name: 'toy',
    parameters: 0,
    in_channels: 1,
    classes: CLASSES,
    activation: 'relu',
    norm,
    layers: LAYERS,
    receptive_field: 7,
    preprocessing: {
      conform: 'none',
      shape: [8, 8, 8],
      spacing: 1,
      normalization: 'none',
      low_quantile: 0,
      high_quantile: 1,
    },
    labels: [],
    check: { file: 'check.bin', shape: [4, 4, 4] },
    files: { onnx: 'model.onnx', tfjs: 'model.json' },
  };
}

const convolution = (name: string, layer: Layer) => ({
  class_name: 'Conv3D',
  name,
  config: {
    name,
    filters: layer.channels,
    kernel_size: Array(3).fill(layer.kernel),
    dilation_rate: Array(3).fill(layer.dilation),
    strides: [1, 1, 1],
    padding: 'same',
    data_format: 'channels_last',
    activation: 'linear',
    use_bias: true,
  },
});

const rectifier = (name: string) => ({
  class_name: 'Activation',
  name,
  config: { name, activation: 'relu' },
});

/** A layers model; with instance norms its convolutions bear the suffix that asks for them. */
export function toyModel(norm: Manifest['norm'] = 'none'): LoadedModel {
  const layers: object[] = [
    {
      class_name: 'InputLayer',
      name: 'input',
      inbound_nodes: [],
      config: { name: 'input', dtype: 'float32', batch_input_shape: [null, 8, 8, 8, 1] },
    },
  ];
  const weights: { name: string; shape: number[]; dtype: string }[] = [];
  let previous = 'input';
  let before = 1;
  const add = (layer: { name: string }) => {
    layers.push({ ...layer, inbound_nodes: [[[previous, 0, 0, {}]]] });
    previous = layer.name;
  };
  LAYERS.forEach((layer, index) => {
    const last = index === LAYERS.length - 1;
    const name = last ? 'output' : `conv3d_${index}${norm === 'instance' ? '_gn' : ''}`;
    add(convolution(name, layer));
    if (!last) add(rectifier(`activation_${index}`));
    const shape = [layer.kernel, layer.kernel, layer.kernel, before, layer.channels];
    weights.push({ name: `${name}/kernel`, shape, dtype: 'float32' });
    weights.push({ name: `${name}/bias`, shape: [layer.channels], dtype: 'float32' });
    before = layer.channels;
  });
  const count = weights.reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b), 0);
  const config = {
    name: 'toy',
    layers,
    input_layers: [['input', 0, 0]],
    output_layers: [['output', 0, 0]],
  };
  return {
    manifest: manifestOf(norm),
    onnx: new Uint8Array(),
    tfjs: {
      document: {
        modelTopology: {
          keras_version: '2.7.0',
          backend: 'tensorflow',
          model_config: { class_name: 'Functional', config },
        },
        weightsManifest: [{ paths: ['model.bin'], weights }],
      },
      weights: new Uint8Array(noise(count, 7).buffer),
    },
    check: new Float32Array(64 * (1 + CLASSES)),
  };
}
