// SPDX-License-Identifier: Apache-2.0
// TensorFlow.js on WebGPU.
import * as tf from '@tensorflow/tfjs-core';
import type { WebGPUBackend } from '@tensorflow/tfjs-backend-webgpu';
import { DeviceWatch } from '../../../shared/engines/device-watch';
import type { EngineFactory } from './engine';
import { MIB, floats, widestLayer, widestStep, within } from './memory';
import { createTfjsEngine } from './tfjs';
import { largestBinding, webgpuAdapter } from '../../../shared/engines/webgpu';

const RUNTIME = 64 * MIB;

export const createTfjsWebgpuEngine: EngineFactory = async (model) => {
  const adapter = await webgpuAdapter();
  if (typeof adapter === 'string') return { id: 'tfjs-webgpu', reason: adapter };
  await import('@tensorflow/tfjs-backend-webgpu');
  if (!(await tf.setBackend('webgpu'))) {
    return { id: 'tfjs-webgpu', reason: 'TensorFlow.js could not start WebGPU here' };
  }
  const largest = largestBinding(adapter);
  const { manifest } = model;
  return createTfjsEngine(model, {
    id: 'tfjs-webgpu',
    title: 'TensorFlow.js on WebGPU',
    device: DeviceWatch.ofDevice((tf.backend() as WebGPUBackend).device),
    peakBytes: (shape) =>
      RUNTIME +
      within(floats(shape, widestLayer(manifest)), largest) +
      floats(shape, widestStep(manifest, 2)),
  });
};
