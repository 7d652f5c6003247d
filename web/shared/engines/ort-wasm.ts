// SPDX-License-Identifier: Apache-2.0
// onnxruntime-web on WebAssembly, with SIMD and, where the page is isolated, threads.
import * as ort from 'onnxruntime-web/wasm';
import scriptUrl from 'onnxruntime-web/ort-wasm-simd-threaded.mjs?url';
import wasmUrl from 'onnxruntime-web/ort-wasm-simd-threaded.wasm?url';
import type { OrtRuntime } from './ort-session';
import { threads, threadWords } from './threads';

export function openOrtWasm(): OrtRuntime {
  ort.env.wasm.wasmPaths = { mjs: scriptUrl, wasm: wasmUrl };
  ort.env.wasm.numThreads = threads();
  ort.env.logLevel = 'error';
  return {
    ort,
    title: `onnxruntime-web on WebAssembly, ${threadWords(threads())}`,
    providers: ['wasm'],
  };
}
