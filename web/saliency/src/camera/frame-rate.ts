// SPDX-License-Identifier: Apache-2.0
// How many maps come in a second, over the last few.

const REMEMBERED = 12;

export class FrameRate {
  private times: number[] = []; // seconds

  /** The rate with one more at that time; nothing after the very first. */
  tick(seconds: number): number | undefined {
    this.times.push(seconds);
    if (this.times.length > REMEMBERED) this.times.shift();
    const span = seconds - this.times[0];
    return span > 0 ? (this.times.length - 1) / span : undefined;
  }
}
