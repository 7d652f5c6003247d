// SPDX-License-Identifier: Apache-2.0
// The fields of a NIfTI header as they lie in the file, of both versions and byte orders, from
// bytes and back. Judges nothing but what kind of file it is: nifti-header.ts does the rest.
import { check } from './scan-error';
import { failForeign } from './foreign';

export interface NiftiFields {
  version: 1 | 2;
  swapped: boolean; // big-endian
  paired: boolean; // the voxels are in a file of their own (.img)
  dim: number[]; // 8
  datatype: number;
  bitpix: number;
  pixdim: number[]; // 8
  voxOffset: number;
  slope: number;
  inter: number;
  units: number;
  description: string;
  intentName: string; // what the values are
  qformCode: number;
  sformCode: number;
  quaternion: number[]; // b, c, d
  qoffset: number[]; // 3
  srow: number[]; // 3 rows of 4
}

/** Header and the flag for extensions: what lies before the voxels at least. */
export function startBytes(version: 1 | 2): number {
  return version === 1 ? 352 : 544;
}

type Width = 1 | 2 | 4 | 8;

/** Where each field begins, and how wide numbers are. */
const layouts = {
  1: {
    bytes: 348, whole: 2 as Width, real: 4 as Width, code: 2 as Width, unit: 1 as Width,
    magic: 344, datatype: 70, bitpix: 72, dim: 40, pixdim: 76, voxOffset: 108,
    slope: 112, inter: 116, units: 123, description: 148,
    qformCode: 252, sformCode: 254, quaternion: 256, qoffset: 268, srow: 280, intentName: 328,
  },
  2: {
    bytes: 540, whole: 8 as Width, real: 8 as Width, code: 4 as Width, unit: 4 as Width,
    magic: 4, datatype: 12, bitpix: 14, dim: 16, pixdim: 104, voxOffset: 168,
    slope: 176, inter: 184, units: 500, description: 240,
    qformCode: 344, sformCode: 348, quaternion: 352, qoffset: 376, srow: 400, intentName: 508,
  },
};
const descriptionBytes = 80;
const intentBytes = 16;
const endOfLines = [0x0d, 0x0a, 0x1a, 0x0a]; // shows a transfer in text mode

function textAt(bytes: Uint8Array, offset: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(offset, offset + length));
}

const untilZero = (text: string): string => text.replace(/\0.*$/s, '');

/** 1 or 2 by the magic, 0 for anything else. */
export function niftiVersion(start: Uint8Array): 0 | 1 | 2 {
  const second = textAt(start, layouts[2].magic, 4);
  if (second === 'n+2\0' || second === 'ni2\0') return 2;
  const first = textAt(start, layouts[1].magic, 4);
  return first === 'n+1\0' || first === 'ni1\0' ? 1 : 0;
}

class FieldReader {
  private readonly view: DataView;
  constructor(
    bytes: Uint8Array,
    private readonly little: boolean,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  whole(offset: number, width: Width): number {
    if (width === 1) return this.view.getInt8(offset);
    if (width === 2) return this.view.getInt16(offset, this.little);
    if (width === 4) return this.view.getInt32(offset, this.little);
    return Number(this.view.getBigInt64(offset, this.little));
  }

  real(offset: number, width: Width): number {
    return width === 8
      ? this.view.getFloat64(offset, this.little)
      : this.view.getFloat32(offset, this.little);
  }

  wholes(offset: number, width: Width, count: number): number[] {
    return Array.from({ length: count }, (_, i) => this.whole(offset + i * width, width));
  }

  reals(offset: number, width: Width, count: number): number[] {
    return Array.from({ length: count }, (_, i) => this.real(offset + i * width, width));
  }
}

/** The first dimension is their number, 1 to 7: read in the wrong order it is far from that. */
function isSwapped(start: Uint8Array, version: 1 | 2, name: string): boolean {
  const at = layouts[version];
  const little = new FieldReader(start, true).whole(at.dim, at.whole);
  const big = new FieldReader(start, false).whole(at.dim, at.whole);
  const sensible = (count: number) => count >= 1 && count <= 7;
  check(
    sensible(little) || sensible(big),
    () => `${name}: the header is damaged: ${little} dimensions. Expected 1 to 7; copy it again.`,
  );
  return !sensible(little);
}

function checkLineEnds(start: Uint8Array, name: string): void {
  const found = start.subarray(layouts[2].magic + 4, layouts[2].magic + 8);
  const whole = endOfLines.every((byte, i) => found[i] === byte);
  check(
    whole || found.every((byte) => byte === 0),
    () =>
      `${name} is damaged: the bytes that guard against a transfer in text mode have changed. ` +
      'Copy it again in binary mode.',
  );
}

export function parseFields(start: Uint8Array, name: string): NiftiFields {
  const version = niftiVersion(start);
  if (version === 0) failForeign(start, name);
  const at = layouts[version];
  check(
    start.length >= at.bytes,
    () =>
      `${name} is cut short within its header: ${start.length} bytes. Expected at least ` +
      `${at.bytes}; copy it again.`,
  );
  if (version === 2) checkLineEnds(start, name);
  const swapped = isSwapped(start, version, name);
  const read = new FieldReader(start, !swapped);
  return {
    version,
    swapped,
    paired: textAt(start, at.magic + 1, 1) === 'i',
    dim: read.wholes(at.dim, at.whole, 8),
    datatype: read.whole(at.datatype, 2),
    bitpix: read.whole(at.bitpix, 2),
    pixdim: read.reals(at.pixdim, at.real, 8),
    voxOffset:
      version === 1 ? read.real(at.voxOffset, at.real) : read.whole(at.voxOffset, at.whole),
    slope: read.real(at.slope, at.real),
    inter: read.real(at.inter, at.real),
    units: read.whole(at.units, at.unit),
    description: untilZero(textAt(start, at.description, descriptionBytes)),
    intentName: untilZero(textAt(start, at.intentName, intentBytes)),
    qformCode: read.whole(at.qformCode, at.code),
    sformCode: read.whole(at.sformCode, at.code),
    quaternion: read.reals(at.quaternion, at.real, 3),
    qoffset: read.reals(at.qoffset, at.real, 3),
    srow: read.reals(at.srow, at.real, 12),
  };
}

/** NIfTI-1, little-endian, with the four bytes that say "no extensions". */
export function headerBytes(fields: NiftiFields): Uint8Array<ArrayBuffer> {
  const at = layouts[1];
  const bytes = new Uint8Array(startBytes(1));
  const view = new DataView(bytes.buffer);
  const reals = (offset: number, values: number[]) =>
    values.forEach((value, i) => view.setFloat32(offset + 4 * i, value, true));
  const text = (offset: number, value: string, most: number) => {
    for (let i = 0; i < Math.min(value.length, most); ++i) bytes[offset + i] = value.charCodeAt(i);
  };
  view.setInt32(0, at.bytes, true);
  fields.dim.forEach((length, i) => view.setInt16(at.dim + 2 * i, length, true));
  view.setInt16(at.datatype, fields.datatype, true);
  view.setInt16(at.bitpix, fields.bitpix, true);
  reals(at.pixdim, fields.pixdim);
  reals(at.voxOffset, [fields.voxOffset, fields.slope, fields.inter]);
  view.setInt8(at.units, fields.units);
  text(at.description, fields.description, descriptionBytes - 1);
  text(at.intentName, fields.intentName, intentBytes - 1);
  view.setInt16(at.qformCode, fields.qformCode, true);
  view.setInt16(at.sformCode, fields.sformCode, true);
  reals(at.quaternion, fields.quaternion);
  reals(at.qoffset, fields.qoffset);
  reals(at.srow, fields.srow);
  text(at.magic, 'n+1', 4);
  return bytes;
}
