// SPDX-License-Identifier: Apache-2.0
// onnxruntime-web on WebGPU: what it holds of a volume.
import { openOrtWebgpu } from '../../../shared/engines/ort-webgpu';
import { largestBinding } from '../../../shared/engines/webgpu';
import type { EngineFactory } from './engine';
import { MIB, floats, widestLayer, widestStep, within } from './memory';
import { createOrtEngine } from './ort';

const RUNTIME = 190 * MIB; // its compiled code, mostly

export const createOrtWebgpuEngine: EngineFactory = async (model) => {
  const runtime = await openOrtWebgpu();
  if (typeof runtime === 'string') return { id: 'ort-webgpu', reason: runtime };
  const largest = largestBinding(runtime.adapter);
  const { manifest } = model;
  return createOrtEngine(runtime, model, {
    id: 'ort-webgpu',
    peakBytes: (shape) =>
      RUNTIME +
      within(floats(shape, widestLayer(manifest)), largest) +
      floats(shape, widestStep(manifest, 1) + 2 * manifest.classes), // read back by way of a copy
  });
};
