// SPDX-License-Identifier: Apache-2.0
// Four rows, one dilation apart, from six products instead of twelve (Winograd's F(4, 3) down the
// height axis): the six rows that they see are mixed, each mix is convolved along depth and width
// with mixed weights, and the products are mixed back. In tiles of a row, which stay in the cache.
import { addTap, convolveRow, RowJob } from './convolve.as';
import { computedWidth, floorOf, Layer, rowOf } from './layer.as';

const MIXES: usize = 6;

@inline
function times(a: v128, factor: f32): v128 {
  return f32x4.mul(a, f32x4.splat(factor));
}

/** Six mixes, `mixBytes` apart, of six rows; a row outside the volume is one of zeros. */
function mixRows(
  r0: usize, r1: usize, r2: usize, r3: usize, r4: usize, r5: usize,
  mixes: usize, mixBytes: usize, rowBytes: usize,
): void {
  for (let x: usize = 0; x < rowBytes; x += 16) {
    const a = v128.load(r0 + x), b = v128.load(r1 + x), c = v128.load(r2 + x);
    const d = v128.load(r3 + x), e = v128.load(r4 + x), f = v128.load(r5 + x);
    const far = f32x4.sub(e, times(c, 4)), near = f32x4.sub(d, times(b, 4));
    const even = f32x4.sub(e, c), odd = times(f32x4.sub(d, b), 2);
    let to = mixes + x;
    v128.store(to, f32x4.add(f32x4.sub(times(a, 4), times(c, 5)), e));
    v128.store((to += mixBytes), f32x4.add(far, near));
    v128.store((to += mixBytes), f32x4.sub(far, near));
    v128.store((to += mixBytes), f32x4.add(even, odd));
    v128.store((to += mixBytes), f32x4.sub(even, odd));
    v128.store(to + mixBytes, f32x4.add(f32x4.sub(times(b, 4), times(d, 5)), f));
  }
}

/** Up to four rows of one output channel, `outBytes` apart, from its six products. */
function unmixRows(
  products: usize, productBytes: usize, bias: f32, floor: f32,
  out: usize, outBytes: usize, count: i32, rowBytes: usize,
): void {
  const least = f32x4.splat(floor), start = f32x4.splat(bias);
  for (let x: usize = 0; x < rowBytes; x += 16) {
    let from = products + x, to = out + x;
    const p0 = v128.load(from), p1 = v128.load((from += productBytes));
    const p2 = v128.load((from += productBytes)), p3 = v128.load((from += productBytes));
    const p4 = v128.load((from += productBytes)), p5 = v128.load(from + productBytes);
    const sum = f32x4.add(p1, p2), difference = f32x4.sub(p1, p2);
    const farSum = f32x4.add(p3, p4), farDifference = f32x4.sub(p3, p4);
    const y0 = f32x4.add(f32x4.add(p0, sum), farSum);
    const y1 = f32x4.add(difference, times(farDifference, 2));
    const y2 = f32x4.add(sum, times(farSum, 4));
    const y3 = f32x4.add(f32x4.add(difference, times(farDifference, 8)), p5);
    v128.store(to, f32x4.pmax(f32x4.add(y0, start), least));
    v128.store((to += outBytes), f32x4.pmax(f32x4.add(y1, start), least));
    v128.store((to += outBytes), f32x4.pmax(f32x4.add(y2, start), least));
    if (count == 4) v128.store(to + outBytes, f32x4.pmax(f32x4.add(y3, start), least));
  }
}

/** Mixes of the six rows that four output rows see, from all planes inside the volume, for a tile
 * that begins `left` bytes into the row: (mixes, kernel, inputs, tile with both sides). */
function mixPlanes(
  layer: Layer, z: i32, y: i32, left: usize, mixes: usize, mixBytes: usize, tileBytes: usize,
): void {
  const dilation = layer.dilation, source = layer.source;
  const step = <usize>dilation * source.rowBytes;
  for (let k = 0; k < 3; ++k) {
    const zSeen = z + (k - 1) * dilation;
    if (zSeen < 0 || zSeen >= layer.depth) continue;
    let r1 = rowOf(source, zSeen, y) - <usize>(4 * dilation) + left;
    let to = mixes + <usize>(k * layer.inputs) * tileBytes;
    for (let channel = 0; channel < layer.inputs; ++channel) {
      const r0 = y >= dilation ? r1 - step : layer.zeros;
      const r4 = y + 3 * dilation < layer.height ? r1 + 3 * step : layer.zeros;
      const r5 = y + 4 * dilation < layer.height ? r1 + 4 * step : layer.zeros;
      mixRows(r0, r1, r1 + step, r1 + 2 * step, r4, r5, to, mixBytes, tileBytes);
      r1 += source.channelBytes;
      to += tileBytes;
    }
  }
}

function listMixes(layer: Layer, z: i32, mix: usize, tileBytes: usize, taps: usize): usize {
  for (let i = 0; i < 3 * layer.inputs; ++i) {
    const zSeen = z + (i / layer.inputs - 1) * layer.dilation;
    if (zSeen >= 0 && zSeen < layer.depth) taps = addTap(taps, mix + <usize>i * tileBytes, i);
  }
  return taps;
}

/** From mixes to products: (mixes, outputs, tile). */
function multiply(
  layer: Layer, z: i32, job: RowJob, mixes: usize, mixBytes: usize, tileBytes: usize,
): void {
  let out = mixes + MIXES * mixBytes;
  job.channelBytes = job.rowBytes;
  job.biasBytes = 0;
  job.floor = f32.NEGATIVE_INFINITY;
  for (let mix: usize = 0; mix < MIXES; ++mix) {
    job.endOfTaps = listMixes(layer, z, mixes + mix * mixBytes, tileBytes, job.taps);
    job.weights = layer.mixed + mix * <usize>(36 * layer.inputs * layer.outputs);
    job.biases = layer.zeros;
    job.out = out;
    convolveRow(job, layer.outputs, 9 * layer.inputs);
    out += <usize>layer.outputs * job.rowBytes;
  }
}

/** `count` rows, 3 or 4, from y on, one dilation apart; scratch holds mixes and products. */
export function winogradRows(
  layer: Layer, z: i32, y: i32, count: i32, job: RowJob, scratch: usize,
): void {
  const step = <usize>layer.dilation * layer.target.rowBytes, end = computedWidth(layer) * 4;
  const tile = layer.tileBytes, sides = (<usize>(8 * layer.dilation) + 15) & ~15;
  for (let left: usize = 0; left < end; left += tile) {
    job.rowBytes = min(tile, end - left);
    const tileBytes = job.rowBytes + sides;
    const mixBytes = <usize>(3 * layer.inputs) * tileBytes;
    mixPlanes(layer, z, y, left, scratch, mixBytes, tileBytes);
    multiply(layer, z, job, scratch, mixBytes, tileBytes);
    let out = rowOf(layer.target, z, y) + left, products = scratch + MIXES * mixBytes;
    for (let channel = 0; channel < layer.outputs; ++channel) {
      const bias = load<f32>(layer.biases + <usize>(4 * channel));
      const productBytes = <usize>layer.outputs * job.rowBytes;
      unmixRows(products, productBytes, bias, floorOf(layer), out, step, count, job.rowBytes);
      products += job.rowBytes;
      out += layer.target.channelBytes;
    }
  }
}
