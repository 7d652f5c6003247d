// SPDX-License-Identifier: Apache-2.0
// A row of a layer on its own, tap by tap: for kernels of one voxel, and where too few rows are
// left for winograd.as.ts.
import { addTap, convolveRow, RowJob } from './convolve.as';
import { computedWidth, floorOf, Layer, rowOf } from './layer.as';

/** The rows that row (z, y) sees; those outside the volume are zero and left out. */
function listTaps(layer: Layer, z: i32, y: i32, taps: usize): usize {
  const kernel = layer.kernel, dilation = layer.dilation, reach = dilation * (kernel >> 1);
  for (let i = 0; i < kernel * kernel; ++i) {
    const zSeen = z - reach + (i / kernel) * dilation, ySeen = y - reach + (i % kernel) * dilation;
    if (zSeen < 0 || zSeen >= layer.depth || ySeen < 0 || ySeen >= layer.height) continue;
    let row = rowOf(layer.source, zSeen, ySeen) - <usize>(4 * reach);
    for (let channel = 0; channel < layer.inputs; ++channel) {
      taps = addTap(taps, row, i * layer.inputs + channel);
      row += layer.source.channelBytes;
    }
  }
  return taps;
}

export function directRow(layer: Layer, z: i32, y: i32, job: RowJob): void {
  const kernel = layer.kernel;
  job.endOfTaps = listTaps(layer, z, y, job.taps);
  job.weights = layer.weights;
  job.biases = layer.biases;
  job.biasBytes = 4;
  job.out = rowOf(layer.target, z, y);
  job.channelBytes = layer.target.channelBytes;
  job.rowBytes = computedWidth(layer) * 4;
  job.floor = floorOf(layer);
  convolveRow(job, layer.outputs, kernel * kernel * kernel * layer.inputs);
}
