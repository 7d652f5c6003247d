// SPDX-License-Identifier: Apache-2.0
// A made-up head as a file, for those who have no scan at hand.
import { makeHead } from '../../../segment/src/scans/head';
import { niftiBytes } from '../../../segment/src/scans/nifti-writer';

const size = 64; // voxels along each side

export function sampleHead(seed: number): File {
  const scan = makeHead({ size, seed });
  return new File([niftiBytes(scan.volume, scan.header)], `made_up_head_${seed}.nii`);
}
