// SPDX-License-Identifier: Apache-2.0
// What every runtime looks like to the rest of the page, and what page and worker say to each
// other: one worker holds one engine, so that ending it ends the engine, whatever it does.
import type { Pixels, SaliencyMap } from '../images/raster';
import type { LoadedModel, Size } from '../model';

export const engineIds = ['ort-webgpu', 'ort-wasm'] as const; // in the order tried
export type EngineId = (typeof engineIds)[number];

export const engineNames: Record<EngineId, string> = {
  'ort-webgpu': 'onnxruntime-web on WebGPU',
  'ort-wasm': 'onnxruntime-web on WebAssembly',
};

export interface Engine {
  readonly title: string; // 'onnxruntime-web on WebAssembly, 2 threads'
  /** The map, 0 to 1, of a frame (3, H, W) of values from 0 to 255. */
  map(frame: Float32Array, size: Size): Promise<Float32Array>;
}

export interface Loaded {
  title: string;
  difference: number; // largest from ubique's map, which goes from 0 to 1
  agrees: boolean;
}

export interface Look {
  map: SaliencyMap; // of the frame, 0 to 1
  seconds: number;
}

/** An engine, loaded or not yet, as the page sees it. */
export interface EngineHost {
  /** Makes the engine ready and checks it; a string says why it cannot be had. */
  load(model: LoadedModel): Promise<Loaded | string>;
  /** Seconds for a warm run of a frame of that size. */
  trial(size: Size): Promise<number>;
  look(pixels: Pixels, size: Size): Promise<Look>;
  /** Ends the engine now; whatever is asked of it rejects with the reason. */
  end(reason: Error): void;
}

export type Request =
  | { kind: 'load'; id: EngineId; model: LoadedModel }
  | { kind: 'trial'; size: Size }
  | { kind: 'look'; pixels: Pixels; size: Size };
