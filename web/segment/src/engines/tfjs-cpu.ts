// SPDX-License-Identifier: Apache-2.0
// TensorFlow.js in plain JavaScript: slow, and there in every browser.
import * as tf from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-backend-cpu';
import type { EngineFactory } from './engine';
import { floats, widestStep } from './memory';
import { createTfjsEngine } from './tfjs';

export const createTfjsCpuEngine: EngineFactory = async (model) => {
  await tf.setBackend('cpu');
  return createTfjsEngine(model, {
    id: 'tfjs-cpu',
    title: 'TensorFlow.js in JavaScript',
    peakBytes: (shape) => floats(shape, widestStep(model.manifest, 2)),
  });
};
