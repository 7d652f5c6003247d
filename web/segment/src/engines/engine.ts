// SPDX-License-Identifier: Apache-2.0
// What every runtime looks like to the rest of the page. Engines live in a worker; they know
// nothing of the page, of NIfTI or of how scans are prepared.
import type { Manifest, Shape3 } from '../model';

/** Values with the last axis fastest, as the network takes them: (D, H, W). */
export interface Volume {
  shape: Shape3;
  values: Float32Array;
}

/** A model with the bytes of its files, fetched or dropped by a person. */
export interface LoadedModel {
  manifest: Manifest;
  onnx: Uint8Array;
  tfjs: { document: unknown; weights: Uint8Array }; // model.json and its one weight file
  check: Float32Array; // input, then logits (classes, D, H, W)
}

export interface Progress {
  done: number;
  total: number;
  what: string; // 'layer', 'plane', 'tile', or 'estimate' where the runtime does not say
}

export interface RunOptions {
  onProgress?: (progress: Progress) => void;
}

export type EngineId =
  | 'planes-wasm' // our own kernel, all layers at once over rolling planes
  | 'ort-webgpu'
  | 'ort-wasm'
  | 'tfjs-webgpu'
  | 'tfjs-webgl'
  | 'tfjs-wasm'
  | 'tfjs-cpu';

export interface Engine {
  readonly id: EngineId;
  readonly title: string; // 'onnxruntime-web on WebAssembly, 2 threads'
  readonly halfPrecision?: boolean; // computes in 16 bits here: judged by labels, not by logits
  readonly silent?: boolean; // tells no progress while it runs
  /** Logits, (classes, D, H, W): for checking and timing on small volumes. */
  logits(volume: Volume): Promise<Float32Array>;
  /** The most likely class of every voxel, the first of equals. */
  labels(volume: Volume, options?: RunOptions): Promise<Uint8Array>;
  /** Bytes that labels() will hold at once, in main or GPU memory, for a volume of this shape. */
  peakBytes(shape: Shape3): number;
  dispose(): Promise<void>;
}

/** Why an engine cannot be had here, for people. */
export interface Unavailable {
  id: EngineId;
  reason: string;
}

/** Makes the engine ready for a model, or says why it cannot be. */
export type EngineFactory = (model: LoadedModel) => Promise<Engine | Unavailable>;
