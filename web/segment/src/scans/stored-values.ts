// SPDX-License-Identifier: Apache-2.0
// Stored values of any type as numbers, scaled where the file asks for it.
import type { NiftiHeader, StoredType } from './nifti-header';

/** In place: big-endian to this machine's order. */
export function swapBytes(bytes: Uint8Array, width: number): void {
  for (let start = 0; start < bytes.length; start += width) {
    for (let i = 0, j = width - 1; i < j; ++i, --j) {
      const low = bytes[start + i];
      bytes[start + i] = bytes[start + j];
      bytes[start + j] = low;
    }
  }
}

type Stored =
  | Uint8Array | Int8Array | Uint16Array | Int16Array | Uint32Array | Int32Array
  | Float32Array | Float64Array;
type Stored64 = BigInt64Array | BigUint64Array;

/** `bytes` begins at a multiple of the type's width. */
function view(type: StoredType, { buffer, byteOffset, length }: Uint8Array): Stored | Stored64 {
  switch (type) {
    case 'u8': return new Uint8Array(buffer, byteOffset, length);
    case 'i8': return new Int8Array(buffer, byteOffset, length);
    case 'u16': return new Uint16Array(buffer, byteOffset, length / 2);
    case 'i16': return new Int16Array(buffer, byteOffset, length / 2);
    case 'u32': return new Uint32Array(buffer, byteOffset, length / 4);
    case 'i32': return new Int32Array(buffer, byteOffset, length / 4);
    case 'u64': return new BigUint64Array(buffer, byteOffset, length / 8);
    case 'i64': return new BigInt64Array(buffer, byteOffset, length / 8);
    case 'f32': return new Float32Array(buffer, byteOffset, length / 4);
    case 'f64': return new Float64Array(buffer, byteOffset, length / 8);
  }
}

export function valuesOf(header: NiftiHeader, bytes: Uint8Array): (index: number) => number {
  const stored = view(header.type, bytes);
  const { slope, inter, scaled } = header;
  if (stored instanceof BigInt64Array || stored instanceof BigUint64Array) {
    return scaled ? (i) => Number(stored[i]) * slope + inter : (i) => Number(stored[i]);
  }
  return scaled ? (i) => stored[i] * slope + inter : (i) => stored[i];
}
