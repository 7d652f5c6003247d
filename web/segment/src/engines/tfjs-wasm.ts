// SPDX-License-Identifier: Apache-2.0
// TensorFlow.js on WebAssembly with SIMD. Its threads are left out: its 3-D convolution, where the
// time goes, does not use them.
import * as tf from '@tensorflow/tfjs-core';
import { setWasmPath } from '@tensorflow/tfjs-backend-wasm';
import wasmUrl from '@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm?url';
import type { EngineFactory } from './engine';
import { MIB, WASM_LIMIT, floats, widestStep, within } from './memory';
import { createTfjsEngine } from './tfjs';

const RUNTIME = 32 * MIB;

export const createTfjsWasmEngine: EngineFactory = async (model) => {
  setWasmPath(wasmUrl);
  if (!(await tf.setBackend('wasm'))) {
    return { id: 'tfjs-wasm', reason: 'TensorFlow.js could not start WebAssembly here' };
  }
  return createTfjsEngine(model, {
    id: 'tfjs-wasm',
    title: 'TensorFlow.js on WebAssembly, one thread',
    peakBytes: (shape) =>
      RUNTIME + within(floats(shape, widestStep(model.manifest, 2)), WASM_LIMIT),
  });
};
