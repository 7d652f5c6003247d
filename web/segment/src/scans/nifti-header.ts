// SPDX-License-Identifier: Apache-2.0
// A NIfTI header, checked completely before anything in it is trusted.
import type { Shape3 } from '../model';
import { voxelCount } from './grid';
import { type Place, placeOf } from './nifti-affine';
import { type NiftiFields, parseFields, startBytes } from './nifti-fields';
import { ScanError, check } from './scan-error';

export type StoredType =
  | 'u8' | 'i8' | 'u16' | 'i16' | 'u32' | 'i32' | 'u64' | 'i64' | 'f32' | 'f64';

export interface NiftiHeader extends Place {
  type: StoredType; // of the stored values
  swapped: boolean; // big-endian
  shape: Shape3;
  volumes: number; // product of the dimensions beyond the third
  slope: number; // value = stored * slope + inter
  inter: number;
  scaled: boolean; // the file asks for that: slope not 0, finite, and not 1 with inter 0
  description: string;
  dataBegin: number; // bytes before the voxels
}

interface TypeRow {
  type: StoredType;
  bytes: number;
}

const types = new Map<number, TypeRow>([
  [2, { type: 'u8', bytes: 1 }],
  [4, { type: 'i16', bytes: 2 }],
  [8, { type: 'i32', bytes: 4 }],
  [16, { type: 'f32', bytes: 4 }],
  [64, { type: 'f64', bytes: 8 }],
  [256, { type: 'i8', bytes: 1 }],
  [512, { type: 'u16', bytes: 2 }],
  [768, { type: 'u32', bytes: 4 }],
  [1024, { type: 'i64', bytes: 8 }],
  [1280, { type: 'u64', bytes: 8 }],
]);

const refusedTypes = new Map<number, string>([
  [0, 'unknown'],
  [1, 'bit'],
  [32, 'complex64'],
  [128, 'RGB24'],
  [1536, 'float128'],
  [1792, 'complex128'],
  [2048, 'complex256'],
  [2304, 'RGBA32'],
]);

const mostExtensionBytes = 2 ** 30;

export function storedBytes(type: StoredType): number {
  for (const row of types.values()) if (row.type === type) return row.bytes;
  throw new ScanError(`No scan has voxels of type ${type}.`);
}

function storedType({ datatype }: NiftiFields, name: string): StoredType {
  const row = types.get(datatype);
  if (row) return row.type;
  throw new ScanError(
    `${name}: cannot read voxels of type ${refusedTypes.get(datatype) ?? 'without a name'} ` +
      `(number ${datatype}). Expected whole numbers of 8 to 64 bits, float32 or float64.`,
  );
}

function takeShape({ dim }: NiftiFields, name: string): { shape: Shape3; volumes: number } {
  const shape: Shape3 = [1, 1, 1];
  let volumes = 1;
  for (let axis = 1; axis <= dim[0]; ++axis) {
    const extent = dim[axis];
    check(
      extent >= 1,
      () =>
        `${name}: dimension ${axis} makes no sense: ${extent} voxels. Expected at least 1; is ` +
        'its header damaged?',
    );
    if (axis <= 3) shape[axis - 1] = extent;
    else volumes *= extent;
  }
  check(
    voxelCount(shape) * volumes <= Number.MAX_SAFE_INTEGER,
    () => `${name}: the dimensions make no sense: ${dim.slice(1).join(' x ')}. Is it damaged?`,
  );
  return { shape, volumes };
}

/** Slope 0 or not finite means "not scaled"; then the intercept means nothing. */
function takeScaling({ slope, inter }: NiftiFields, name: string) {
  if (slope === 0 || !Number.isFinite(slope)) return { slope: 1, inter: 0, scaled: false };
  check(
    Number.isFinite(inter),
    () => `${name}: the scaling makes no sense: an intercept of ${inter}. Is its header damaged?`,
  );
  return { slope, inter, scaled: slope !== 1 || inter !== 0 };
}

function dataBeginOf(fields: NiftiFields, name: string): number {
  check(
    !fields.paired,
    () =>
      `${name} is the header of a pair (.hdr, .img). Expected one file with both; convert it to ` +
      '.nii.gz.',
  );
  const least = startBytes(fields.version);
  check(
    fields.voxOffset >= least && fields.voxOffset <= mostExtensionBytes,
    () =>
      `${name}: the place of the voxels (vox_offset) makes no sense: ${fields.voxOffset}. ` +
      `Expected ${least} or a little more; is its header damaged?`,
  );
  return Math.floor(fields.voxOffset);
}

export function parseHeader(start: Uint8Array, name: string): NiftiHeader {
  const fields = parseFields(start, name);
  const type = storedType(fields, name);
  const { shape, volumes } = takeShape(fields, name);
  return {
    type,
    shape,
    volumes,
    swapped: fields.swapped,
    description: fields.description,
    dataBegin: dataBeginOf(fields, name),
    ...takeScaling(fields, name),
    ...placeOf(fields, shape, name),
  };
}
