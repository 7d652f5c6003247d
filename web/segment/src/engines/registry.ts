// SPDX-License-Identifier: Apache-2.0
// Where each engine comes from. Each is loaded only when it is tried, so that nobody downloads a
// runtime that the browser cannot use. Only the worker knows this file.
import type { Engine, EngineFactory, EngineId, LoadedModel, Unavailable } from './engine';

const factories: Record<EngineId, () => Promise<EngineFactory>> = {
  'planes-wasm': async () => (await import('./planes')).createPlanesEngine,
  'ort-webgpu': async () => (await import('./ort-webgpu')).createOrtWebgpuEngine,
  'ort-wasm': async () => (await import('./ort-wasm')).createOrtWasmEngine,
  'tfjs-webgpu': async () => (await import('./tfjs-webgpu')).createTfjsWebgpuEngine,
  'tfjs-webgl': async () => (await import('./tfjs-webgl')).createTfjsWebglEngine,
  'tfjs-wasm': async () => (await import('./tfjs-wasm')).createTfjsWasmEngine,
  'tfjs-cpu': async () => (await import('./tfjs-cpu')).createTfjsCpuEngine,
};

export async function createEngine(
  id: EngineId,
  model: LoadedModel,
): Promise<Engine | Unavailable> {
  const make = await factories[id]();
  return make(model);
}
