// SPDX-License-Identifier: Apache-2.0
// Progress that only grows: what the engine tells and, for one that tells nothing, an estimate
// from the time that was expected.
import type { Progress } from './engine';

const STEADY = 0.8; // of the expected time; from there on the estimate slows down
const TICK = 200; // ms

/** A part of one that never is one. */
export function estimate(elapsed: number, expected: number): number {
  const x = elapsed / Math.max(expected, 1e-3);
  if (x <= STEADY) return x;
  const rest = 1 - STEADY;
  return Math.min(0.999, 1 - rest * Math.exp(-(x - STEADY) / rest));
}

export class ProgressMeter {
  private readonly start = performance.now();
  private readonly timer: ReturnType<typeof setInterval> | undefined;
  private reached = 0;

  /** Estimates only where a time is expected. */
  constructor(
    expectedSeconds: number | null,
    private readonly onProgress: (progress: Progress) => void,
  ) {
    if (expectedSeconds !== null) {
      this.timer = setInterval(() => this.tick(expectedSeconds), TICK);
    }
  }

  tell(progress: Progress): void {
    const part = progress.done / progress.total;
    if (part <= this.reached || part >= 1) return; // done is what the promise says
    this.reached = part;
    this.onProgress(progress);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private tick(expectedSeconds: number): void {
    const part = estimate((performance.now() - this.start) / 1000, expectedSeconds);
    this.tell({ done: Math.floor(part * 1000) / 10, total: 100, what: 'estimate' });
  }
}
