// SPDX-License-Identifier: Apache-2.0
// The engines, each loaded only when it is tried, so that nobody downloads a runtime that the
// browser cannot use. Only the worker knows this file.
import { type OrtRuntime, createOrtSession } from '../../../shared/engines/ort-session';
import type { LoadedModel } from '../model';
import type { Engine, EngineId } from './engine';

const runtimes: Record<EngineId, () => Promise<OrtRuntime | string>> = {
  'ort-webgpu': async () => (await import('../../../shared/engines/ort-webgpu')).openOrtWebgpu(),
  'ort-wasm': async () => (await import('../../../shared/engines/ort-wasm')).openOrtWasm(),
};

/** A string says why it cannot be had. */
export async function createEngine(id: EngineId, model: LoadedModel): Promise<Engine | string> {
  const runtime = await runtimes[id]();
  if (typeof runtime === 'string') return runtime;
  const session = await createOrtSession(runtime, model.onnx);
  return { title: runtime.title, map: (frame, size) => session.run(frame, [1, 3, ...size]) };
}
