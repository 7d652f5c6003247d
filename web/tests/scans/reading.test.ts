// SPDX-License-Identifier: Apache-2.0
// Files as they come: every type and byte order, placed by sform, qform or spacing alone, and those
// that are refused, with what is said about them.
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { makeHead } from '../../segment/src/scans/head';
import { headerBytes, parseFields } from '../../segment/src/scans/nifti-fields';
import { niftiBytes } from '../../segment/src/scans/nifti-writer';
import { axisCodes } from '../../segment/src/scans/orientation';
import { type Scan, mostBytes, readScan } from '../../segment/src/scans/scan';

const shape = [3, 4, 5];
const codes = {
  u8: 2, i16: 4, i32: 8, f32: 16, f64: 64, i8: 256, u16: 512, u32: 768, i64: 1024, u64: 1280,
};
type Type = keyof typeof codes;

/** What a test stores at voxel number `place` of the file. */
function storedAt(place: number): number {
  return place % 100;
}

function put(view: DataView, type: Type, index: number, value: number, little: boolean): void {
  const whole = BigInt(value);
  const writers: Record<Type, () => void> = {
    u8: () => view.setUint8(index, value),
    i8: () => view.setInt8(index, value),
    i16: () => view.setInt16(2 * index, value, little),
    u16: () => view.setUint16(2 * index, value, little),
    i32: () => view.setInt32(4 * index, value, little),
    u32: () => view.setUint32(4 * index, value, little),
    f32: () => view.setFloat32(4 * index, value, little),
    f64: () => view.setFloat64(8 * index, value, little),
    i64: () => view.setBigInt64(8 * index, whole, little),
    u64: () => view.setBigUint64(8 * index, whole, little),
  };
  writers[type]();
}

const plainFields = parseFields(niftiBytes(makeHead({ size: 16, seed: 1 }).volume, {
  qformCode: 0, sformCode: 1, spacing: [12, 12, 12], description: '',
}), 'head');

interface FileOptions {
  type?: Type;
  big?: boolean;
  fields?: Partial<typeof plainFields>;
  volumes?: number;
}

/** Swaps the numbers of a little-endian NIfTI-1 header that the reader looks at. */
function toBigEndian(header: Uint8Array): void {
  const swap = (offset: number, width: number, count: number) => {
    for (let i = 0; i < count; ++i) {
      header.subarray(offset + i * width, offset + (i + 1) * width).reverse();
    }
  };
  swap(0, 4, 1);
  swap(40, 2, 8);
  swap(70, 2, 2);
  swap(76, 4, 11); // pixdim, vox_offset, slope, inter
  swap(252, 2, 2);
  swap(256, 4, 18); // quaternion, offset, srow
}

type Bytes = Uint8Array<ArrayBuffer>;

function fileOf({ type = 'f32', big = false, fields = {}, volumes = 1 }: FileOptions): Bytes {
  const count = 60 * volumes;
  const header = headerBytes({
    ...plainFields,
    dim: [volumes > 1 ? 4 : 3, ...shape, volumes, 1, 1, 1],
    datatype: codes[type],
    ...fields,
  });
  if (big) toBigEndian(header);
  const width = type.endsWith('64') ? 8 : type.endsWith('32') ? 4 : type.endsWith('16') ? 2 : 1;
  const voxels = new DataView(new ArrayBuffer(count * width));
  for (let i = 0; i < count; ++i) put(voxels, type, i, storedAt(i), !big);
  const bytes = new Uint8Array(header.length + count * width);
  bytes.set(header);
  bytes.set(new Uint8Array(voxels.buffer), header.length);
  return bytes;
}

function read(bytes: Bytes, volume?: number): Promise<Scan> {
  return readScan(new File([bytes], 'scan.nii'), 'scan.nii', volume);
}

/** In the scan's order, last axis fastest, what fileOf() stored with the first fastest. */
function expectedValues(scale: (stored: number) => number, first = 0): number[] {
  const values: number[] = [];
  for (let i = 0; i < 3; ++i) {
    for (let j = 0; j < 4; ++j) {
      for (let k = 0; k < 5; ++k) values.push(scale(storedAt(first + i + 3 * (j + 4 * k))));
    }
  }
  return values;
}

describe('values', () => {
  for (const type of Object.keys(codes) as Type[]) {
    for (const big of [false, true]) {
      test(`of type ${type}, ${big ? 'big' : 'little'}-endian, are read`, async () => {
        const { volume } = await read(fileOf({ type, big }));
        expect([...volume.values]).toEqual(expectedValues((stored) => stored));
      });
    }
  }

  test('are scaled by slope and intercept', async () => {
    const scan = await read(fileOf({ type: 'i16', fields: { slope: 0.5, inter: -3 } }));
    expect([...scan.volume.values]).toEqual(expectedValues((stored) => stored * 0.5 - 3));
    expect(scan.storedIntegers).toBe(false);
  });

  test('come from the volume that was picked, packed or not', async () => {
    const series = fileOf({ volumes: 3 });
    const packed = new Uint8Array(gzipSync(series));
    for (const bytes of [series, packed]) {
      const { volume } = await read(bytes, 2);
      expect([...volume.values]).toEqual(expectedValues((stored) => stored, 120));
    }
  });
});

describe('the place', () => {
  test('comes from the qform where there is no sform', async () => {
    const fields = {
      sformCode: 0, qformCode: 1, quaternion: [0, 0, 1], qoffset: [5, 6, 7],
      pixdim: [1, 2, 3, 4, 1, 1, 1, 1],
    };
    const { affine } = (await read(fileOf({ fields }))).volume;
    expect(affine).toEqual([[-2, 0, 0, 5], [0, -3, 0, 6], [0, 0, 4, 7], [0, 0, 0, 1]]);
    expect(axisCodes(affine)).toBe('LPS');
  });

  test('comes from the spacing where there is no form at all', async () => {
    const fields = { sformCode: 0, qformCode: 0, pixdim: [1, 2, 3, 4, 1, 1, 1, 1] };
    const { affine } = (await read(fileOf({ fields }))).volume;
    expect(affine).toEqual([[-2, 0, 0, 2], [0, 3, 0, -4.5], [0, 0, 4, -8], [0, 0, 0, 1]]);
  });
});

describe('refused, with the reason:', () => {
  const packed = (content: Bytes | string) => new Uint8Array(gzipSync(content));
  const dims = (...dim: number[]) => fileOf({ fields: { dim: [...dim, 1, 1, 1, 1] } });
  const flat = { srow: [1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0] };
  const refusals: [string, () => Bytes, RegExp][] = [
    ['a file that is cut short', () => fileOf({}).slice(0, 500), /cut short/],
    ['gzip data that is cut short', () => packed(fileOf({})).slice(0, 150), /cut short/],
    ['a header of no dimensions', () => dims(0, 3, 4, 5), /0 dimensions/],
    ['a length below 1', () => dims(3, 3, -4, 5), /dimension 2/],
    ['a scan too large for memory', () => dims(3, 2000, 2000, 2000), /too large.*32\.0 GB/],
    ['colours', () => fileOf({ fields: { datatype: 128 } }), /RGB24/],
    ['a series without a choice', () => fileOf({ volumes: 2 }), /2 volumes/],
    ['axes in one plane', () => fileOf({ fields: flat }), /affine/],
    ['a gzip file of a text', () => packed('x,y\n1,2\n'), /looks like a text/],
  ];
  for (const [name, bytes, reason] of refusals) {
    test(name, () => expect(read(bytes())).rejects.toThrow(reason));
  }

  test('voxels that are not numbers, with their place', () => {
    const bytes = fileOf({});
    new DataView(bytes.buffer).setFloat32(352 + 4 * (2 + 3 * (1 + 4 * 4)), NaN, true);
    return expect(read(bytes)).rejects.toThrow(/1 NaN or infinite, one at \(2, 1, 4\)/);
  });

  test('a file of 2 GB, by its size alone', () => {
    const huge = { size: mostBytes } as File; // anything more of it would be missing
    return expect(readScan(huge, 'huge.nii')).rejects.toThrow(/huge\.nii is too large.*2\.0 GB/);
  });
});

describe('the made-up head', () => {
  test('is the same for the same seed and another for another', () => {
    const values = (seed: number) => makeHead({ size: 20, seed }).volume.values;
    const [first, again, other] = [1, 1, 2].map(values);
    expect(first).toEqual(again);
    expect(first).not.toEqual(other);
  });

  test('has air around it and fluid brighter than tissue in it', () => {
    const { values } = makeHead({ size: 32, seed: 1 }).volume;
    const sorted = values.slice().sort();
    expect(sorted[0]).toBeLessThan(60);
    expect(sorted[sorted.length - 1]).toBeGreaterThan(700);
    const inside = values.filter((value) => value > 120).length / values.length;
    expect(inside).toBeGreaterThan(0.25);
    expect(inside).toBeLessThan(0.8);
  });
});
