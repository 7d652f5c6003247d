// SPDX-License-Identifier: Apache-2.0
// onnxruntime-web on WebAssembly: what it holds of a volume.
import { openOrtWasm } from '../../../shared/engines/ort-wasm';
import type { EngineFactory } from './engine';
import { MIB, WASM_LIMIT, floats, widestStep, within } from './memory';
import { createOrtEngine } from './ort';

const RUNTIME = 110 * MIB; // its compiled code, mostly

export const createOrtWasmEngine: EngineFactory = async (model) => {
  const { manifest } = model;
  return createOrtEngine(openOrtWasm(), model, {
    id: 'ort-wasm',
    options: { enableCpuMemArena: false, enableMemPattern: false },
    peakBytes: (shape) => {
      const heap = floats(shape, manifest.in_channels + widestStep(manifest, 1));
      return RUNTIME + within(heap, WASM_LIMIT) + floats(shape, manifest.classes); // and a copy
    },
  });
};
