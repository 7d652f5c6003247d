// SPDX-License-Identifier: Apache-2.0
// The loop that the time goes into: one row of up to six output channels, two vectors of four
// voxels at a time, so that accumulators, inputs and a weight fit into the 15 vector registers
// that engines have to give. Knows rows and weights, not planes or layers.

/** A row of one input channel that a tap looks at, at its leftmost voxel. */
@unmanaged
class Tap {
  row: usize;
  index: i32; // of its weights, counted in runs of (kernel, outputs)
}

export const TAP_BYTES: usize = 8;

/** Writes one more tap and returns where the list ends now. */
@inline
export function addTap(end: usize, row: usize, index: i32): usize {
  changetype<Tap>(end).row = row;
  changetype<Tap>(end).index = index;
  return end + TAP_BYTES;
}

/** One row of all output channels. */
@unmanaged
export class RowJob {
  taps: usize;
  endOfTaps: usize;
  weights: usize; // block by block (taps, kernel, outputs of the block)
  biases: usize;
  biasBytes: usize; // from a bias to the next: 4, or 0 where six zeros serve all
  out: usize;
  channelBytes: usize; // from an output channel to the next
  rowBytes: usize; // that are computed: a multiple of two vectors
  kernel: i32; // 1 or 3, along the row
  dilationBytes: usize;
  floor: f32; // 0 for relu, minus infinity for none
}

@inline
function multiplyAdd(a: v128, b: v128, sum: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD
    ? f32x4.relaxed_madd(a, b, sum)
    : f32x4.add(f32x4.mul(a, b), sum);
}

@inline
function bias(job: RowJob, output: i32, outputs: i32): v128 {
  return output < outputs ? v128.load32_splat(job.biases + 4 * output) : f32x4.splat(0);
}

@inline
function store(to: usize, left: v128, right: v128, floor: v128): void {
  v128.store(to, f32x4.pmax(left, floor));
  v128.store(to, f32x4.pmax(right, floor), 16);
}

/** `outputs` and `kernel` are constants wherever this is inlined: an if costs nothing. */
@inline
function convolve(job: RowJob, outputs: i32, kernel: i32): void {
  const taps = job.taps, end = job.endOfTaps, weights = job.weights, step = job.dilationBytes;
  const stride = job.channelBytes, rowBytes = job.rowBytes;
  const tapBytes = <usize>(kernel * outputs * 4);
  for (let x: usize = 0; x < rowBytes; x += 32) {
    let a0 = bias(job, 0, outputs), a1 = bias(job, 1, outputs), a2 = bias(job, 2, outputs);
    let a3 = bias(job, 3, outputs), a4 = bias(job, 4, outputs), a5 = bias(job, 5, outputs);
    let b0 = a0, b1 = a1, b2 = a2, b3 = a3, b4 = a4, b5 = a5;
    for (let tap = taps; tap < end; tap += TAP_BYTES) {
      let input = changetype<Tap>(tap).row + x;
      let weight = weights + <usize>changetype<Tap>(tap).index * tapBytes;
      for (let k = 0; k < kernel; ++k) {
        const a = v128.load(input), b = v128.load(input, 16);
        let w = v128.load32_splat(weight);
        a0 = multiplyAdd(a, w, a0); b0 = multiplyAdd(b, w, b0);
        if (outputs > 1) {
          w = v128.load32_splat(weight, 4);
          a1 = multiplyAdd(a, w, a1); b1 = multiplyAdd(b, w, b1);
        }
        if (outputs > 2) {
          w = v128.load32_splat(weight, 8);
          a2 = multiplyAdd(a, w, a2); b2 = multiplyAdd(b, w, b2);
        }
        if (outputs > 3) {
          w = v128.load32_splat(weight, 12);
          a3 = multiplyAdd(a, w, a3); b3 = multiplyAdd(b, w, b3);
        }
        if (outputs > 4) {
          w = v128.load32_splat(weight, 16);
          a4 = multiplyAdd(a, w, a4); b4 = multiplyAdd(b, w, b4);
        }
        if (outputs > 5) {
          w = v128.load32_splat(weight, 20);
          a5 = multiplyAdd(a, w, a5); b5 = multiplyAdd(b, w, b5);
        }
        input += step;
        weight += 4 * outputs;
      }
    }
    const out = job.out + x, floor = f32x4.splat(job.floor);
    store(out, a0, b0, floor);
    if (outputs > 1) store(out + stride, a1, b1, floor);
    if (outputs > 2) store(out + 2 * stride, a2, b2, floor);
    if (outputs > 3) store(out + 3 * stride, a3, b3, floor);
    if (outputs > 4) store(out + 4 * stride, a4, b4, floor);
    if (outputs > 5) store(out + 5 * stride, a5, b5, floor);
  }
}

function convolve1by1(job: RowJob): void { convolve(job, 1, 1); }
function convolve2by1(job: RowJob): void { convolve(job, 2, 1); }
function convolve3by1(job: RowJob): void { convolve(job, 3, 1); }
function convolve4by1(job: RowJob): void { convolve(job, 4, 1); }
function convolve5by1(job: RowJob): void { convolve(job, 5, 1); }
function convolve6by1(job: RowJob): void { convolve(job, 6, 1); }
function convolve1by3(job: RowJob): void { convolve(job, 1, 3); }
function convolve2by3(job: RowJob): void { convolve(job, 2, 3); }
function convolve3by3(job: RowJob): void { convolve(job, 3, 3); }
function convolve4by3(job: RowJob): void { convolve(job, 4, 3); }
function convolve5by3(job: RowJob): void { convolve(job, 5, 3); }
function convolve6by3(job: RowJob): void { convolve(job, 6, 3); }

function convolveOne(job: RowJob, outputs: i32): void {
  switch (outputs) {
    case 1: convolve1by1(job); break;
    case 2: convolve2by1(job); break;
    case 3: convolve3by1(job); break;
    case 4: convolve4by1(job); break;
    case 5: convolve5by1(job); break;
    default: convolve6by1(job);
  }
}

function convolveThree(job: RowJob, outputs: i32): void {
  switch (outputs) {
    case 1: convolve1by3(job); break;
    case 2: convolve2by3(job); break;
    case 3: convolve3by3(job); break;
    case 4: convolve4by3(job); break;
    case 5: convolve5by3(job); break;
    default: convolve6by3(job);
  }
}

/** All outputs, in blocks of at most six, as even as can be, the larger ones first: as network.ts
 * packs the weights, of which there are so many for each output. */
export function convolveRow(job: RowJob, all: i32, weightsPerOutput: i32): void {
  const blocks = (all + 5) / 6;
  const least = all / blocks, larger = all % blocks;
  for (let block = 0; block < blocks; ++block) {
    const outputs = block < larger ? least + 1 : least;
    if (job.kernel == 3) convolveThree(job, outputs);
    else convolveOne(job, outputs);
    job.weights += <usize>(4 * outputs * weightsPerOutput);
    job.biases += <usize>outputs * job.biasBytes;
    job.out += <usize>outputs * job.channelBytes;
  }
}
