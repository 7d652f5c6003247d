// SPDX-License-Identifier: Apache-2.0
// Grids as NIfTI files: a label map with the scan's codes and description for a person to keep, a
// volume for the viewer.
import type { Shape3 } from '../model';
import { spacingOf } from './affine';
import { type LabelGrid, type VolumeGrid, denseStrides } from './grid';
import { qformOf } from './nifti-affine';
import { type NiftiFields, headerBytes, startBytes } from './nifti-fields';
import type { NiftiHeader } from './nifti-header';
import { check } from './scan-error';

const millimetresAndSeconds = 2 | 8;
const aligned = 2; // code of an affine that has none: without one no program would look at it
const sameSpacing = 1e-4;
// `ubique run` leaves files out of a folder that are marked so: they are results, not scans.
const resultMark = 'ubique result';

/** What of a scan's header goes on into files made from it. */
export type HeaderLike = Pick<NiftiHeader, 'qformCode' | 'sformCode' | 'spacing' | 'description'>;

function fieldsOf(grid: LabelGrid | VolumeGrid, like: HeaderLike): NiftiFields {
  check(
    Math.max(...grid.shape) < 32768,
    () => `A volume of ${grid.shape.join(' x ')} voxels does not fit into a NIfTI-1 file.`,
  );
  const isLabels = grid.values instanceof Uint8Array;
  const { affine } = grid;
  const pixdim = spacingOf(affine).map((measured, axis) => {
    const stated = like.spacing[axis];
    return Math.abs(stated - measured) <= sameSpacing * measured ? stated : measured;
  });
  const qform = qformOf(affine);
  return {
    version: 1,
    swapped: false,
    paired: false,
    dim: [3, ...grid.shape, 1, 1, 1, 1],
    datatype: isLabels ? 2 : 16,
    bitpix: isLabels ? 8 : 32,
    pixdim: [qform?.handedness ?? 1, ...pixdim, 1, 1, 1, 1],
    voxOffset: startBytes(1),
    slope: 1,
    inter: 0,
    units: millimetresAndSeconds,
    description: like.description,
    intentName: isLabels ? resultMark : '',
    qformCode: qform ? like.qformCode : 0,
    sformCode: like.sformCode || like.qformCode || aligned,
    quaternion: qform?.quaternion ?? [0, 0, 0],
    qoffset: qform ? [affine[0][3], affine[1][3], affine[2][3]] : [0, 0, 0],
    srow: [...affine[0], ...affine[1], ...affine[2]],
  };
}

/** From k fastest to the file's order, i fastest. */
function toFileOrder(
  from: Float32Array | Uint8Array,
  shape: Shape3,
  to: Float32Array | Uint8Array,
): void {
  const [ni, nj, nk] = shape;
  const strides = denseStrides(shape);
  const tile = 32;
  for (let j = 0; j < nj; ++j) {
    for (let k0 = 0; k0 < nk; k0 += tile) {
      const end = Math.min(k0 + tile, nk);
      for (let i = 0; i < ni; ++i) {
        const source = i * strides[0] + j * strides[1];
        const result = j * ni + i;
        for (let k = k0; k < end; ++k) to[result + k * ni * nj] = from[source + k];
      }
    }
  }
}

/** The whole file, uncompressed. */
export function niftiBytes(
  grid: LabelGrid | VolumeGrid,
  like: HeaderLike,
): Uint8Array<ArrayBuffer> {
  const start = headerBytes(fieldsOf(grid, like));
  const bytes = new Uint8Array(start.length + grid.values.byteLength);
  bytes.set(start);
  const voxels =
    grid.values instanceof Uint8Array
      ? bytes.subarray(start.length)
      : new Float32Array(bytes.buffer, start.length, grid.values.length);
  toFileOrder(grid.values, grid.shape, voxels);
  return bytes;
}

export async function gzipped(bytes: Uint8Array<ArrayBuffer>): Promise<Blob> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip'));
  const inflated = await new Response(stream).blob();
  return new Blob([inflated], { type: 'application/gzip' });
}
