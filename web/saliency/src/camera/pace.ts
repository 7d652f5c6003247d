// SPDX-License-Identifier: Apache-2.0
// How large a frame a camera can have here: as large as still gives about ten maps in a second, by
// what was measured. A network's work grows with the frame's area.
import { type Size, areaOf } from '../model';

export const TARGET = 0.1; // seconds for a map
const TOO_SLOW = 1.4; // times the target: a smaller frame is taken
const SURELY_FAST = 0.75; // of the target, expected of a larger frame before it is taken
const REMEMBERED = 5; // frames

/** The largest that should take no more than `seconds`, else the smallest. */
export function largestWithin(
  sizes: readonly Size[],
  measured: { size: Size; seconds: number },
  seconds: number,
): Size {
  const rate = measured.seconds / areaOf(measured.size);
  const fitting = sizes.filter((size) => areaOf(size) * rate <= seconds);
  return fitting.at(-1) ?? sizes[0];
}

/** Steps between sizes, the smallest first, by the times that frames take. */
export class Pace {
  private times: number[] = [];

  constructor(
    private readonly sizes: readonly Size[],
    private current: Size,
  ) {}

  get size(): Size {
    return this.current;
  }

  /** Seconds that a frame of the current size took. */
  took(seconds: number): void {
    this.times.push(seconds);
    if (this.times.length < REMEMBERED) return;
    const median = this.times.sort((a, b) => a - b)[Math.floor(REMEMBERED / 2)];
    this.times = [];
    const measured = { size: this.current, seconds: median };
    const larger = largestWithin(this.sizes, measured, SURELY_FAST * TARGET);
    if (median > TOO_SLOW * TARGET) this.current = largestWithin(this.sizes, measured, TARGET);
    else if (areaOf(larger) > areaOf(this.current)) this.current = larger;
  }
}
