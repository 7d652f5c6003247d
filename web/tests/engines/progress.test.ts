// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Progress } from '../../segment/src/engines/engine';
import { ProgressMeter, estimate } from '../../segment/src/engines/progress';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe('estimated progress', () => {
  it('grows with time and never is all, however long it takes', () => {
    const parts = [0, 0.1, 0.5, 0.8, 1, 1.5, 3, 10, 1000].map((x) => estimate(x, 1));
    expect(parts.every((part, i) => i === 0 || part >= parts[i - 1])).toBe(true);
    expect(parts[2]).toBe(0.5);
    expect(parts.at(-1)).toBeLessThan(1);
  });

  it('comes by itself for an engine that tells nothing', () => {
    const told: Progress[] = [];
    const meter = new ProgressMeter(10, (step) => told.push(step));
    vi.advanceTimersByTime(5000);
    meter.stop();
    vi.advanceTimersByTime(5000);
    expect(told.at(-1)).toEqual({ done: 50, total: 100, what: 'estimate' });
  });

  it('does not fall behind a tile that was finished early', () => {
    const told: Progress[] = [];
    const meter = new ProgressMeter(10, (step) => told.push(step));
    vi.advanceTimersByTime(1000);
    meter.tell({ done: 1, total: 2, what: 'tile' });
    vi.advanceTimersByTime(1000);
    expect(told.at(-1)).toEqual({ done: 1, total: 2, what: 'tile' });
    vi.advanceTimersByTime(4000);
    meter.stop();
    expect(told.at(-1)).toMatchObject({ done: 60, what: 'estimate' });
  });

  it('does not come for an engine that tells by itself', () => {
    const told: Progress[] = [];
    const meter = new ProgressMeter(null, (step) => told.push(step));
    vi.advanceTimersByTime(5000);
    meter.stop();
    expect(told).toEqual([]);
  });
});
