// SPDX-License-Identifier: Apache-2.0
// What the page learns about the engines: which were tried, what each was worth, which one runs.
import type { EngineId, LoadedModel, Progress, Volume } from './engine';
import type { Shape3 } from '../model';

export type Verdict =
  | { id: EngineId; state: 'ready'; title: string; difference: number; seconds: number }
  | { id: EngineId; state: 'wrong'; title: string; difference: number } // disagrees with ubique
  | { id: EngineId; state: 'unavailable'; reason: string };

export interface Choice {
  verdicts: Verdict[]; // in the order tried
  chosen: EngineId;
  why: string; // for people: 'fastest of 3 that agree with ubique: 0.05 s for a trial block'
  expectedSeconds: number; // for the volume asked about
  peakBytes: number; // before it starts
  tiles: number; // 1: whole; more: sub-volumes with the exact halo, because of the memory limit
}

export interface ChooseOptions {
  only?: EngineId[]; // a person's own choice; default: all
  memoryLimit?: number; // bytes; default: what the browser seems to have
}

export interface Segmented {
  labels: Uint8Array; // (D, H, W)
  engine: EngineId;
  seconds: number;
  tiles: number;
}

/** The page's side of the worker in which engines run. One job at a time. */
export interface Runner {
  choose(model: LoadedModel, shape: Shape3, options?: ChooseOptions): Promise<Choice>;
  /** With the chosen engine; one that fails (memory, lost context) hands over to the next best,
   * which onFallback tells with the reason. */
  segment(
    volume: Volume,
    onProgress: (progress: Progress) => void,
    onFallback?: (from: EngineId, to: EngineId, reason: string) => void,
  ): Promise<Segmented>;
  /** Ends the worker at once, whatever it does; its promise rejects with Cancelled. The next call
   * starts a new one. */
  cancel(): void;
}
