// SPDX-License-Identifier: Apache-2.0
// TensorFlow.js on WebGL, in 32 bits where the device can, else in 16.
import * as tf from '@tensorflow/tfjs-core';
import type { MathBackendWebGL } from '@tensorflow/tfjs-backend-webgl';
import { DeviceWatch } from '../../../shared/engines/device-watch';
import type { EngineFactory } from './engine';
import { MIB, floats, widestLayer, widestStep, within } from './memory';
import { createTfjsEngine } from './tfjs';

const RUNTIME = 64 * MIB;

function hasWebgl(): boolean {
  return new OffscreenCanvas(1, 1).getContext('webgl2') !== null;
}

export const createTfjsWebglEngine: EngineFactory = async (model) => {
  if (!hasWebgl()) return { id: 'tfjs-webgl', reason: 'this browser gives workers no WebGL 2' };
  await import('@tensorflow/tfjs-backend-webgl');
  tf.env().set('WEBGL_DELETE_TEXTURE_THRESHOLD', 0); // freed is freed: none is kept for later
  if (!(await tf.setBackend('webgl'))) {
    return { id: 'tfjs-webgl', reason: 'TensorFlow.js could not start WebGL here' };
  }
  const halfPrecision = !tf.env().getBool('WEBGL_RENDER_FLOAT32_ENABLED');
  const side = tf.env().getNumber('WEBGL_MAX_TEXTURE_SIZE');
  const { manifest } = model;
  return createTfjsEngine(model, {
    id: 'tfjs-webgl',
    title: `TensorFlow.js on WebGL, ${halfPrecision ? '16' : '32'} bits`,
    halfPrecision,
    device: DeviceWatch.ofContext((tf.backend() as MathBackendWebGL).getGPGPUContext().gl),
    peakBytes: (shape) => {
      const texels = floats(shape, widestLayer(manifest)) / 4; // one value each
      return RUNTIME + within(texels, side * side) + floats(shape, widestStep(manifest, 2));
    },
  });
};
