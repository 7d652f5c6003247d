// SPDX-License-Identifier: Apache-2.0
// How large frames are, how maps are smoothed and counted while a camera runs.
import { describe, expect, test } from 'vitest';
import { FrameRate } from '../../saliency/src/camera/frame-rate';
import { Pace, TARGET, largestWithin } from '../../saliency/src/camera/pace';
import { Smoothing } from '../../saliency/src/camera/smoothing';
import type { Size } from '../../saliency/src/model';

const sizes: Size[] = [[48, 64], [72, 96], [120, 160], [168, 224], [240, 320]];

describe('the frame', () => {
  const after = (pace: Pace, seconds: number, frames = 5) => {
    for (let i = 0; i < frames; ++i) pace.took(seconds);
    return pace.size;
  };

  test('is the largest that is fast enough by the trial, else the smallest', () => {
    const measured = (seconds: number) => ({ size: sizes[0], seconds });
    expect(largestWithin(sizes, measured(0.001), TARGET)).toEqual([240, 320]);
    expect(largestWithin(sizes, measured(0.02), TARGET)).toEqual([72, 96]);
    expect(largestWithin(sizes, measured(3), TARGET)).toEqual([48, 64]);
  });

  test('becomes smaller where maps take too long, and larger where there is time', () => {
    expect(after(new Pace(sizes, sizes[4]), 0.5)).toEqual([72, 96]);
    expect(after(new Pace(sizes, sizes[1]), 0.02)).toEqual([120, 160]);
    expect(after(new Pace(sizes, sizes[0]), 5)).toEqual([48, 64]);
  });

  test('stays where it is about right, and after a single slow map', () => {
    expect(after(new Pace(sizes, sizes[2]), TARGET)).toEqual([120, 160]);
    const pace = new Pace(sizes, sizes[2]);
    pace.took(2);
    expect(after(pace, 0.08, 4)).toEqual([120, 160]);
  });

  test('does not swing between two sizes', () => {
    const rate = 0.09 / (72 * 96); // a little less than the target at the second size
    const pace = new Pace(sizes, sizes[1]);
    for (let i = 0; i < 100; ++i) {
      pace.took(rate * pace.size[0] * pace.size[1]);
      expect(pace.size).toEqual([72, 96]);
    }
  });
});

describe('smoothing', () => {
  const map = (...values: number[]) => ({
    width: values.length, height: 1, values: new Float32Array(values),
  });

  test('keeps a part of the maps before', () => {
    const smoothing = new Smoothing();
    expect([...smoothing.next(map(0, 1), 0.75).values]).toEqual([0, 1]);
    expect([...smoothing.next(map(1, 1), 0.75).values]).toEqual([0.25, 1]);
    expect([...smoothing.next(map(1, 0), 0.5).values]).toEqual([0.625, 0.5]);
    expect([...smoothing.next(map(0.125, 0), 0).values]).toEqual([0.125, 0]);
  });

  test('begins anew with another size', () => {
    const smoothing = new Smoothing();
    smoothing.next(map(1, 1), 0.9);
    expect([...smoothing.next(map(0, 0, 0), 0.9).values]).toEqual([0, 0, 0]);
  });
});

describe('maps per second', () => {
  test('are counted over the last ones', () => {
    const rate = new FrameRate();
    expect(rate.tick(10)).toBeUndefined();
    expect(rate.tick(10.5)).toBe(2);
    for (let i = 1; i <= 20; ++i) rate.tick(10.5 + i / 10);
    expect(rate.tick(12.6)).toBeCloseTo(10, 6);
  });
});
