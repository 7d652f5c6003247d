// SPDX-License-Identifier: Apache-2.0
// From logits to labels. Knows nothing of who computed them.

/** The most likely class of every voxel, the first of equals; logits are (classes, voxels). */
export function argmax(logits: Float32Array, classes: number): Uint8Array {
  const voxels = logits.length / classes;
  const labels = new Uint8Array(voxels);
  for (let voxel = 0; voxel < voxels; ++voxel) {
    let best = logits[voxel];
    let label = 0;
    for (let c = 1, at = voxel + voxels; c < classes; ++c, at += voxels) {
      if (logits[at] > best) {
        best = logits[at];
        label = c;
      }
    }
    if (Number.isNaN(best)) throw new Error('The network gave values that are not numbers.');
    labels[voxel] = label;
  }
  return labels;
}
