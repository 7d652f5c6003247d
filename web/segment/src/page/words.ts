// SPDX-License-Identifier: Apache-2.0
// What scans, models and engines are, in words that people read.
import { shapeText } from '../../../shared/page/words';
import type { EngineId } from '../engines/engine';
import type { Preprocessing } from '../model';

export function spacingText(spacing: readonly number[]): string {
  return `${spacing.map((length) => Number(length.toFixed(2))).join(' × ')} mm`;
}

export const engineNames: Record<EngineId, string> = {
  'planes-wasm': 'rolling planes on WebAssembly',
  'ort-webgpu': 'onnxruntime-web on WebGPU',
  'ort-wasm': 'onnxruntime-web on WebAssembly',
  'tfjs-webgpu': 'TensorFlow.js on WebGPU',
  'tfjs-webgl': 'TensorFlow.js on WebGL',
  'tfjs-wasm': 'TensorFlow.js on WebAssembly',
  'tfjs-cpu': 'TensorFlow.js in plain JavaScript',
};

const conformWords: Record<Preprocessing['conform'], string> = {
  scipy_zoom: 'zoomed to',
  nibabel_conform: 'resampled about its middle to',
  brainchop: 'resampled to 8 bits and',
  none: '',
};

const normalizationWords: Record<Preprocessing['normalization'], string> = {
  min_max: 'brightness from lowest to highest',
  quantile: 'brightness between two quantiles',
  z_score: 'brightness by mean and deviation',
  none: 'brightness as it is',
};

function targetText({ spacing }: Preprocessing): string {
  return typeof spacing === 'number' ? `${spacing} mm` : spacingText(spacing);
}

export function preprocessingText(how: Preprocessing): string {
  const grid =
    how.conform === 'none'
      ? 'on its own grid'
      : `${conformWords[how.conform]} ${shapeText(how.shape)} voxels of ${targetText(how)}`;
  return `${grid}, ${normalizationWords[how.normalization]}`;
}
