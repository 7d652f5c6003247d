// SPDX-License-Identifier: Apache-2.0
// The region on a waveform, and the peaks that are drawn.
import { describe, expect, test } from 'vitest';
import {
  type Limits,
  beginRegion,
  dragRegion,
  extensionOf,
  keyedEdge,
  moveEdge,
  moveExtension,
  settleRegion,
} from '../../../studio/src/music/region';
import { peaksOf } from '../../../studio/src/music/wave';

const limits: Limits = { first: 0, last: 10, shortest: 0.5 };

describe('a region', () => {
  test('is dragged in either direction, inside of the clip', () => {
    expect(beginRegion(-3, limits)).toEqual({ from: 0, to: 0 });
    expect(dragRegion(4, 7, limits)).toEqual({ from: 4, to: 7 });
    expect(dragRegion(4, -2, limits)).toEqual({ from: 0, to: 4 });
    expect(dragRegion(12, 15, limits)).toEqual({ from: 10, to: 10 });
  });

  test('is none after a click, and grows if it is too short', () => {
    expect(settleRegion({ from: 4, to: 4.05 }, limits)).toBeUndefined();
    expect(settleRegion({ from: 4, to: 4.3 }, limits)).toEqual({ from: 3.9, to: 4.4 });
    expect(settleRegion({ from: 9.8, to: 10 }, limits)).toEqual({ from: 9.5, to: 10 });
    expect(settleRegion({ from: 2, to: 6 }, limits)).toEqual({ from: 2, to: 6 });
  });

  test('has edges that neither cross nor leave the clip', () => {
    const region = { from: 2, to: 6 };
    expect(moveEdge(region, 'from', 8, limits)).toEqual({ from: 5.5, to: 6 });
    expect(moveEdge(region, 'from', -1, limits)).toEqual({ from: 0, to: 6 });
    expect(moveEdge(region, 'to', 1, limits)).toEqual({ from: 2, to: 2.5 });
    expect(moveEdge(region, 'to', 99, limits)).toEqual({ from: 2, to: 10 });
  });

  test('moves with keys', () => {
    expect(keyedEdge('ArrowRight', false, 2, limits)).toBe(2.5);
    expect(keyedEdge('ArrowLeft', true, 2, limits)).toBe(-3); // moveEdge keeps it inside
    expect(keyedEdge('Home', false, 2, limits)).toBe(0);
    expect(keyedEdge('End', false, 2, limits)).toBe(10);
    expect(keyedEdge('a', false, 2, limits)).toBeUndefined();
  });

  test('that extends stays outside of the clip and within its length', () => {
    const region = { from: 0, to: 15 };
    expect(moveExtension(region, 'from', 3, 10)).toEqual({ from: 0, to: 15 });
    expect(moveExtension(region, 'from', -30, 10)).toEqual({ from: -10, to: 15 });
    expect(moveExtension(region, 'to', 4, 10)).toEqual({ from: 0, to: 10 });
    expect(extensionOf({ from: -2.5, to: 15.125 }, 10)).toEqual({ left: 2.5, right: 5.13 });
    expect(extensionOf({ from: 0, to: 10 }, 10)).toEqual({ left: 0, right: 0 });
  });
});

describe('peaks', () => {
  test('are the loudest of each stretch over all channels', () => {
    const left = Float32Array.of(0.1, -0.5, 0, 0.2);
    const right = Float32Array.of(0, 0.25, -0.75, 0);
    expect([...peaksOf([left, right], 2)]).toEqual([0.5, 0.75]);
  });

  test('are no more than there are samples', () => {
    expect(peaksOf([Float32Array.of(1, -1, 0.5)], 100)).toHaveLength(3);
    expect(peaksOf([], 100)).toHaveLength(0);
  });
});
