// SPDX-License-Identifier: Apache-2.0
// onnxruntime-web on WebGPU. Its runtime is large and loaded only where WebGPU has a device.
import scriptUrl from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.mjs?url';
import wasmUrl from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm?url';
import { DeviceWatch } from './device-watch';
import type { EngineFactory } from './engine';
import { MIB, floats, widestLayer, widestStep, within } from './memory';
import { createOrtEngine } from './ort';
import { largestBinding, webgpuAdapter } from './webgpu';

const RUNTIME = 190 * MIB; // its compiled code, mostly

export const createOrtWebgpuEngine: EngineFactory = async (model) => {
  const adapter = await webgpuAdapter();
  if (typeof adapter === 'string') return { id: 'ort-webgpu', reason: adapter };
  const ort = await import('onnxruntime-web/webgpu');
  ort.env.wasm.wasmPaths = { mjs: scriptUrl, wasm: wasmUrl };
  ort.env.wasm.numThreads = 1; // the graphics device does the work
  ort.env.logLevel = 'error';
  const largest = largestBinding(adapter);
  const { manifest } = model;
  return createOrtEngine(ort, model, {
    id: 'ort-webgpu',
    title: 'onnxruntime-web on WebGPU',
    session: { executionProviders: ['webgpu'] },
    device: async () => DeviceWatch.ofDevice((await ort.env.webgpu.device) as GPUDevice),
    peakBytes: (shape) =>
      RUNTIME +
      within(floats(shape, widestLayer(manifest)), largest) +
      floats(shape, widestStep(manifest, 1) + 2 * manifest.classes), // read back by way of a copy
  });
};
