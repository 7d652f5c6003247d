// SPDX-License-Identifier: Apache-2.0
// onnxruntime-web on WebAssembly, with SIMD and, where the page is isolated, threads.
import * as ort from 'onnxruntime-web/wasm';
import scriptUrl from 'onnxruntime-web/ort-wasm-simd-threaded.mjs?url';
import wasmUrl from 'onnxruntime-web/ort-wasm-simd-threaded.wasm?url';
import type { EngineFactory } from './engine';
import { MIB, WASM_LIMIT, floats, widestStep, within } from './memory';
import { createOrtEngine } from './ort';
import { threads, threadWords } from './threads';

const RUNTIME = 110 * MIB; // its compiled code, mostly

export const createOrtWasmEngine: EngineFactory = async (model) => {
  ort.env.wasm.wasmPaths = { mjs: scriptUrl, wasm: wasmUrl };
  ort.env.wasm.numThreads = threads();
  ort.env.logLevel = 'error';
  const { manifest } = model;
  return createOrtEngine(ort, model, {
    id: 'ort-wasm',
    title: `onnxruntime-web on WebAssembly, ${threadWords(threads())}`,
    session: { executionProviders: ['wasm'], enableCpuMemArena: false, enableMemPattern: false },
    peakBytes: (shape) => {
      const heap = floats(shape, manifest.in_channels + widestStep(manifest, 1));
      return RUNTIME + within(heap, WASM_LIMIT) + floats(shape, manifest.classes); // and a copy
    },
  });
};
