// SPDX-License-Identifier: Apache-2.0
// onnxruntime-web on WebGPU. Its runtime is large and loaded only where WebGPU has a device.
/// <reference types="@webgpu/types" />
import scriptUrl from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.mjs?url';
import wasmUrl from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm?url';
import { DeviceWatch } from './device-watch';
import type { OrtRuntime } from './ort-session';
import { webgpuAdapter } from './webgpu';

/** The runtime with the adapter it will use, or why there is none, for people. */
export async function openOrtWebgpu(): Promise<(OrtRuntime & { adapter: GPUAdapter }) | string> {
  const adapter = await webgpuAdapter();
  if (typeof adapter === 'string') return adapter;
  const ort = await import('onnxruntime-web/webgpu');
  ort.env.wasm.wasmPaths = { mjs: scriptUrl, wasm: wasmUrl };
  ort.env.wasm.numThreads = 1; // the graphics device does the work
  ort.env.logLevel = 'error';
  return {
    ort,
    adapter,
    title: 'onnxruntime-web on WebGPU',
    providers: ['webgpu'],
    device: async () => DeviceWatch.ofDevice((await ort.env.webgpu.device) as GPUDevice),
  };
}
