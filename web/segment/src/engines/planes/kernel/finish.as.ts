// SPDX-License-Identifier: Apache-2.0
// What happens to a row after its convolution: activation, zeros behind it, labels.
import { activateRow } from './activate.as';
import { computedWidth, ELU, Layer } from './layer.as';

/** What the vectors wrote past the row's end is zero again, as neighbours expect it. */
export function finishRow(layer: Layer, row: usize): void {
  const bytes = <usize>(4 * layer.width), computed = computedWidth(layer) * 4;
  for (let channel = 0; channel < layer.outputs; ++channel) {
    if (layer.activation >= ELU) activateRow(row, computed, layer.activation);
    memory.fill(row + bytes, 0, computed - bytes);
    row += layer.target.channelBytes;
  }
}

/** The first of the largest, at every voxel; false where that is no number. */
export function labelRow(layer: Layer, logits: usize, labels: usize): bool {
  const stride = layer.target.channelBytes, width = computedWidth(layer);
  let strange = i32x4.splat(0);
  for (let x: usize = 0; x < width; x += 4) {
    let at = logits + 4 * x, most = v128.load(at), best = i32x4.splat(0);
    for (let channel = 1; channel < layer.outputs; ++channel) {
      const value = v128.load((at += stride)), more = f32x4.gt(value, most);
      most = v128.bitselect(value, most, more);
      best = v128.bitselect(i32x4.splat(channel), best, more);
    }
    strange = v128.or(strange, f32x4.ne(most, most));
    const bytes = i8x16.shuffle(best, best, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12);
    v128.store32_lane(labels + x, bytes, 0);
  }
  return !v128.any_true(strange);
}
