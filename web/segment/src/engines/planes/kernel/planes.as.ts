// SPDX-License-Identifier: Apache-2.0
// Strips of one plane of one layer, from the ring of planes in front of it into the one behind it.
// Where everything lies is decided by layout.ts; which strips, by whoever calls.
import { RowJob, TAP_BYTES } from './convolve.as';
import { directRow } from './direct.as';
import { finishRow, labelRow } from './finish.as';
import { computedWidth, Layer, rowOf } from './layer.as';
import { winogradRows } from './winograd.as';

/** Strips `from` to `to` of plane `z`: a strip is up to four rows, one dilation apart. False where
 * a voxel has no label because its logits are not numbers. */
export function strips(layer: Layer, z: i32, from: i32, to: i32, scratch: usize): bool {
  const job = changetype<RowJob>(scratch), dilation = layer.dilation;
  job.taps = scratch + 64;
  job.kernel = layer.kernel;
  job.dilationBytes = <usize>(4 * dilation);
  const taps = <usize>(layer.kernel * layer.kernel * layer.inputs) * TAP_BYTES;
  const rest = (job.taps + taps + 63) & ~63;
  for (let strip = from; strip < to; ++strip) {
    const y = 4 * dilation * (strip / dilation) + strip % dilation;
    const count = min(4, (layer.height - y + dilation - 1) / dilation);
    const together = count >= 3 && layer.mixed != 0;
    if (together) winogradRows(layer, z, y, count, job, rest);
    for (let i = 0; i < count; ++i) {
      const row = y + i * dilation, out = rowOf(layer.target, z, row);
      if (!together) directRow(layer, z, row, job);
      finishRow(layer, out);
      const labels = layer.labels + <usize>row * computedWidth(layer);
      if (layer.labels != 0 && !labelRow(layer, out, labels)) return false;
    }
  }
  return true;
}
