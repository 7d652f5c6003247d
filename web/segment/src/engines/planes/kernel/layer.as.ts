// SPDX-License-Identifier: Apache-2.0
// A layer and the rings of planes around it, as layout.ts writes them into memory.

/** Planes in a circle: (slots, channels, rows, row), rows followed by zeros. */
@unmanaged
export class Ring {
  base: usize;
  slots: i32;
  planeBytes: usize;
  channelBytes: usize;
  rowBytes: usize;
}

/** 32-bit words in this order. */
@unmanaged
export class Layer {
  kernel: i32; // 1 or 3
  dilation: i32;
  inputs: i32;
  outputs: i32;
  activation: i32; // NONE to GELU_TANH
  depth: i32;
  height: i32;
  width: i32;
  source: Ring;
  target: Ring;
  weights: usize; // block by block (kernel, kernel, inputs, kernel, outputs of the block)
  mixed: usize; // (mixes) of blocks (kernel, inputs, kernel, outputs of the block); 0 for kernel 1
  tileBytes: usize; // of a row, that winograd.as.ts computes at once
  biases: usize;
  zeros: usize; // a row of them, with both sides
  labels: usize; // (height, width in whole vectors) bytes, or 0 where none are wanted
}

export const NONE = 0, RELU = 1, ELU = 2, GELU = 3, GELU_TANH = 4;

@inline
export function rowOf(ring: Ring, z: i32, y: i32): usize {
  return ring.base + <usize>(z % ring.slots) * ring.planeBytes + <usize>y * ring.rowBytes;
}

/** Voxels of a row that are computed: all, and what fills the last two vectors. */
@inline
export function computedWidth(layer: Layer): usize {
  return <usize>((layer.width + 7) & ~7);
}

/** The least that the convolution lets through. */
@inline
export function floorOf(layer: Layer): f32 {
  return layer.activation == RELU ? 0 : f32.NEGATIVE_INFINITY;
}
