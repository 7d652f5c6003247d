// SPDX-License-Identifier: Apache-2.0
// MeshNet on our own WebAssembly kernel, without a graphics card and in little memory. This file
// finds the kernel that the browser can run and starts the threads that it grants.
import type { EngineFactory } from '../engine';
import { threads } from '../../../../shared/engines/threads';
import { Crew, type Port } from './crew';
import { readNetwork } from './network';
import { PlanesEngine } from './run';
import fused from '../../../../../build/web/kernels/fused.wasm?url';
import fusedShared from '../../../../../build/web/kernels/fused-shared.wasm?url';
import plain from '../../../../../build/web/kernels/plain.wasm?url';
import plainShared from '../../../../../build/web/kernels/plain-shared.wasm?url';

export const createPlanesEngine: EngineFactory = async (model) => {
  const id = 'planes-wasm';
  const layers = readNetwork(model);
  if (typeof layers === 'string') return { id, reason: layers };
  const crew = await Crew.start(threads(), webThread);
  const kernels = crew.threads > 1 ? [fusedShared, plainShared] : [fused, plain];
  const module = await compileKernel(kernels);
  if (typeof module === 'string') {
    crew.dispose();
    return { id, reason: module };
  }
  return new PlanesEngine(layers, module, crew);
};

/** The first that this browser understands: not all have fused multiply-adds. */
async function compileKernel(urls: string[]): Promise<WebAssembly.Module | string> {
  for (const url of urls) {
    const response = await fetch(url);
    if (!response.ok) return `its kernel could not be fetched (${url}: ${response.status})`;
    const bytes = await response.arrayBuffer();
    if (WebAssembly.validate(bytes)) return WebAssembly.compile(bytes);
  }
  return 'this browser has no WebAssembly with vectors (SIMD)';
}

function webThread(): Port {
  const worker = new Worker(new URL('./thread.ts', import.meta.url), { type: 'module' });
  return {
    post: (call) => worker.postMessage(call),
    listen(reply, fail) {
      worker.onmessage = ({ data }) => reply(data);
      worker.onerror = ({ message }) => fail(message || 'it could not be started');
    },
    end: () => worker.terminate(),
  };
}
