// SPDX-License-Identifier: Apache-2.0
// What the page and the worker say to each other: one worker holds one engine, so that ending it
// ends the engine, whatever it does, and gives its memory back.
import type { EngineId, LoadedModel, Progress, Volume } from './engine';
import type { Judgement } from './check';
import type { Shape3 } from '../model';

export interface Loaded {
  title: string;
  silent: boolean; // tells no progress while it runs
  judgement: Judgement;
}

export interface Layout {
  tiles: number;
  computedVoxels: number;
  peakBytes: number;
}

/** An engine, loaded or not yet, as the page sees it. */
export interface EngineHost {
  /** Makes the engine ready and checks it; a string says why it cannot be had. */
  load(model: LoadedModel): Promise<Loaded | string>;
  /** Seconds for a warm run of a small block. */
  trial(shape: Shape3): Promise<number>;
  /** How a volume would be divided, or null where no division fits. */
  layout(shape: Shape3, memoryLimit: number): Promise<Layout | null>;
  segment(
    volume: Volume,
    memoryLimit: number,
    onProgress: (progress: Progress) => void,
  ): Promise<Uint8Array>;
  /** Ends the engine now; whatever is asked of it rejects with the reason. */
  end(reason: Error): void;
}

export type Request =
  | { kind: 'load'; id: EngineId; model: LoadedModel }
  | { kind: 'trial'; shape: Shape3 }
  | { kind: 'layout'; shape: Shape3; memoryLimit: number }
  | { kind: 'segment'; volume: Volume; memoryLimit: number };
