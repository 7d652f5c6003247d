// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';
import { argmax } from '../../segment/src/engines/argmax';
import { checkOf, compare } from '../../segment/src/engines/check';
import { failureOf } from '../../shared/engines/faults';
import { noise, toyModel } from './toy-network';

const CLASSES = 3;
const expected = noise(CLASSES * 4001, 3).map((value) => 8 * value);
const shifted = (by: number) => expected.map((value, i) => value + (i % 2 ? by : -by));

describe('the check against ubique', () => {
  it('trusts an engine within a ten-thousandth of the largest logit', () => {
    expect(compare(shifted(8 * 0.9e-4), expected, CLASSES, false).agrees).toBe(true);
    expect(compare(shifted(8 * 1.2e-4), expected, CLASSES, false).agrees).toBe(false);
  });

  it('judges an engine of 16 bits by its labels, and tells the difference', () => {
    const { agrees, difference, agreement } = compare(shifted(8 * 2e-4), expected, CLASSES, true);
    expect(agrees).toBe(true);
    expect(difference).toBeCloseTo(2e-4, 5);
    expect(agreement).toBeGreaterThanOrEqual(0.999);
    expect(compare(shifted(0.8), expected, CLASSES, true).agrees).toBe(false);
  });

  it('trusts no engine that gives something that is no number, or too little', () => {
    const broken = expected.slice();
    broken[5] = NaN;
    expect(compare(broken, expected, CLASSES, true).agrees).toBe(false);
    expect(compare(expected.slice(3), expected, CLASSES, true).agrees).toBe(false);
  });

  it('refuses a check file that is too short, and says what to do', () => {
    const model = toyModel();
    model.check = model.check.slice(1);
    expect(() => checkOf(model)).toThrow(
      /holds 255 values where 256 were expected.*export it again/,
    );
  });
});

describe('labels from logits', () => {
  it('are the first of equals', () => {
    expect([...argmax(Float32Array.of(1, 2, 5, 1, 3, 5, 0, 3, 4), CLASSES)]).toEqual([0, 1, 0]);
  });

  it('are not made of what is no number', () => {
    expect(() => argmax(Float32Array.of(NaN, NaN, NaN), CLASSES)).toThrow(/not numbers/);
  });
});

describe('what runtimes throw', () => {
  it.each([
    [new RangeError('Array buffer allocation failed'), /memory did not suffice/, true],
    [new Error('std::bad_alloc'), /memory did not suffice/, true],
    [new Error('Aborted(OOM): Cannot enlarge memory arrays'), /memory did not suffice/, true],
    [new Error('GPUDevice was lost'), /took the graphics device away/, false],
    [new Error('CONTEXT_LOST_WEBGL'), /took the graphics device away/, false],
    [new WebAssembly.RuntimeError('unreachable'), /runtime broke off/, false],
    [1234, /error 1234/, false],
  ])('is told in words: %s', (error, words, memory) => {
    expect(failureOf(error).message).toMatch(words);
    expect(failureOf(error).memory).toBe(memory);
  });
});
