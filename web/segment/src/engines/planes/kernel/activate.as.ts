// SPDX-License-Identifier: Apache-2.0
// Activations that need an exponential, on a row in place, to within 2e-7. Relu is not among them:
// the convolution itself does it.

import { ELU, GELU } from './layer.as';

@inline
function times(a: v128, factor: f32): v128 {
  return f32x4.mul(a, f32x4.splat(factor));
}

@inline
function plus(a: v128, term: f32): v128 {
  return f32x4.add(a, f32x4.splat(term));
}

/** e^x for x <= 0: x = n ln 2 + r with |r| <= ln 2 / 2, e^r by its series, 2^n by its exponent. */
function exponential(x: v128): v128 {
  const within = f32x4.pmax(f32x4.splat(-87), x); // 1.6e-38, the last that is no denormal
  const n = f32x4.nearest(times(within, 1.44269504));
  const r = f32x4.sub(f32x4.sub(within, times(n, 0.693359375)), times(n, -2.12194440e-4));
  let series = plus(times(r, 1.0 / 720), 1.0 / 120);
  series = plus(f32x4.mul(series, r), 1.0 / 24);
  series = plus(f32x4.mul(series, r), 1.0 / 6);
  series = plus(f32x4.mul(series, r), 0.5);
  series = plus(f32x4.mul(series, r), 1);
  series = plus(f32x4.mul(series, r), 1);
  const bits = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23);
  return f32x4.mul(series, bits);
}

function elu(x: v128): v128 {
  const below = plus(exponential(f32x4.pmin(x, f32x4.splat(0))), -1);
  return v128.bitselect(below, x, f32x4.lt(x, f32x4.splat(0)));
}

/** Of |x|: one minus a polynomial in 1 / (1 + p |x|) times e^(-x^2) (Hastings). */
function errorFunction(x: v128): v128 {
  const t = f32x4.div(f32x4.splat(1), plus(times(x, 0.3275911), 1));
  let sum = plus(times(t, 1.061405429), -1.453152027);
  sum = plus(f32x4.mul(sum, t), 1.421413741);
  sum = plus(f32x4.mul(sum, t), -0.284496736);
  sum = plus(f32x4.mul(sum, t), 0.254829592);
  const tail = f32x4.mul(f32x4.mul(sum, t), exponential(f32x4.neg(f32x4.mul(x, x))));
  return f32x4.sub(f32x4.splat(1), tail);
}

function gelu(x: v128): v128 {
  const half = times(x, 0.5), erf = errorFunction(times(f32x4.abs(x), 0.70710678));
  return f32x4.add(half, f32x4.mul(f32x4.abs(half), erf));
}

function geluTanh(x: v128): v128 {
  const cubic = f32x4.mul(x, plus(times(f32x4.mul(x, x), 0.044715), 1));
  const power = exponential(times(f32x4.abs(cubic), -1.59576912)); // -2 |u|, u = sqrt(2 / pi) cubic
  const one = f32x4.splat(1);
  const tanh = f32x4.div(f32x4.sub(one, power), f32x4.add(one, power)); // of |u|
  const half = times(x, 0.5);
  return f32x4.add(half, f32x4.mul(f32x4.abs(half), tanh));
}

export function activateRow(row: usize, bytes: usize, activation: i32): void {
  const end = row + bytes;
  for (let at = row; at < end; at += 16) {
    const x = v128.load(at);
    v128.store(at, activation == ELU ? elu(x) : activation == GELU ? gelu(x) : geluTanh(x));
  }
}
