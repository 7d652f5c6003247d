// SPDX-License-Identifier: Apache-2.0
// What a file that is not NIfTI looks like, in words that help the person who chose it.
import { ScanError } from './scan-error';

interface Known {
  offset: number;
  bytes: string;
  what: string;
}

const formats: Known[] = [
  {
    offset: 128,
    bytes: 'DICM',
    what: 'a DICOM slice; convert the series, for example with dcm2niix',
  },
  { offset: 0, bytes: 'NRRD000', what: 'an NRRD volume; convert it to NIfTI' },
  { offset: 0, bytes: 'ObjectType', what: 'a MetaImage header (.mha, .mhd); convert it to NIfTI' },
  { offset: 0, bytes: 'CDF\x01', what: 'a MINC volume; convert it with mnc2nii' },
  { offset: 0, bytes: 'BZh', what: 'a bzip2 file; unpack it first' },
  { offset: 0, bytes: 'PK\x03\x04', what: 'a zip archive; unpack it first' },
  { offset: 0, bytes: '\x1f\x8b', what: 'a gzip file inside a gzip file; unpack it first' },
  { offset: 0, bytes: '\x28\xb5\x2f\xfd', what: 'a Zstandard file; unpack it first' },
  { offset: 0, bytes: '\xfd7zXZ\0', what: 'an xz file; unpack it first' },
  { offset: 0, bytes: '\x89HDF\r\n\x1a\n', what: 'an HDF5 file' },
  { offset: 0, bytes: '\x93NUMPY', what: 'a NumPy array (.npy); save it as NIfTI' },
  { offset: 0, bytes: '\x89PNG\r\n\x1a\n', what: 'a PNG picture; choose the scan itself' },
  { offset: 0, bytes: '\xff\xd8\xff', what: 'a JPEG picture; choose the scan itself' },
  { offset: 0, bytes: '%PDF', what: 'a PDF document' },
  { offset: 257, bytes: 'ustar', what: 'a tar archive; unpack it first' },
  {
    offset: 0,
    bytes: 'version https://git-lfs',
    what: 'a Git LFS pointer: the real file was not downloaded (git lfs pull)',
  },
  { offset: 0, bytes: '\x5c\x01\0\0', what: 'an Analyze 7.5 header; convert it to NIfTI' },
  { offset: 0, bytes: '\0\0\x01\x5c', what: 'an Analyze 7.5 header; convert it to NIfTI' },
];

/** Version 1, four extents, a type of 0 to 4: nothing like a magic, so all of it is asked. */
function isMgh(start: Uint8Array): boolean {
  if (start.length < 24) return false;
  const view = new DataView(start.buffer, start.byteOffset, start.byteLength);
  const number = (place: number) => view.getInt32(4 * place);
  const extents = [1, 2, 3, 4].map(number);
  const sensible = extents.every((extent) => extent >= 1 && extent <= 1_000_000);
  return number(0) === 1 && sensible && number(5) >= 0 && number(5) <= 4;
}

function textFormat(text: string): string {
  const trimmed = text.trimStart().toLowerCase();
  if (trimmed.startsWith('<!doctype html') || trimmed.startsWith('<html')) {
    return 'a web page: the download gave an error or a login form; download it again';
  }
  if (trimmed.startsWith('{') || trimmed.startsWith('[')) return 'a JSON text';
  return /^[\t-\r\x20-\x7e\x80-\xff]+$/.test(text) ? 'a text' : '';
}

function looksLike(start: Uint8Array): string {
  const text = String.fromCharCode(...start.subarray(0, 512));
  const known = formats.find(({ offset, bytes }) => text.startsWith(bytes, offset));
  if (known) return known.what;
  if (isMgh(start)) return 'a FreeSurfer volume (.mgh, .mgz); convert it with mri_convert';
  return textFormat(text);
}

export function failForeign(start: Uint8Array, name: string): never {
  if (start.length === 0) {
    throw new ScanError(`${name} is empty. Expected a NIfTI scan (.nii, .nii.gz).`);
  }
  const known = looksLike(start);
  if (known) throw new ScanError(`${name} is not a NIfTI scan; it looks like ${known}.`);
  if (start.length < 348) {
    throw new ScanError(
      `${name} is too short for a NIfTI header: ${start.length} bytes. Expected at least 348; ` +
        'copy it again.',
    );
  }
  throw new ScanError(
    `${name} is not a NIfTI scan: it has none of its marks (n+1, n+2). Is it another kind of ` +
      'file, or is its header damaged? Choose a .nii or .nii.gz file.',
  );
}
