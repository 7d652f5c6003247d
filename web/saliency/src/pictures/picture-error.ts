// SPDX-License-Identifier: Apache-2.0
// A file that is no picture for us, with words that say what it is and what to do.

export class PictureError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PictureError';
  }
}

const READABLE = 'PNG, JPEG, WebP, GIF, BMP or AVIF';

interface Kind {
  what: string;
  starts: string; // of the file, as latin-1, from `at` on
  at?: number;
  advice: string;
}

const KINDS: Kind[] = [
  { what: 'a HEIC photo', starts: 'ftyphei', at: 4, advice: 'export it as JPEG' },
  { what: 'a TIFF picture', starts: 'II*\0', advice: 'save it as PNG' },
  { what: 'a TIFF picture', starts: 'MM\0*', advice: 'save it as PNG' },
  { what: 'a PDF document', starts: '%PDF', advice: 'save the page as PNG' },
  { what: 'an SVG drawing', starts: '<svg', advice: 'save it as PNG' },
  { what: 'a web page', starts: '<!doctype html', advice: 'save the picture itself' },
  { what: 'a video', starts: 'ftyp', at: 4, advice: 'take a picture out of it' },
  { what: 'a video', starts: '\x1aE\xdf\xa3', advice: 'take a picture out of it' },
  { what: 'an archive', starts: 'PK\x03\x04', advice: 'unpack it first' },
];
const PICTURES = ['\x89PNG', '\xff\xd8\xff', 'RIFF', 'GIF8', 'BM'];

/** Why a browser could not decode it, from its first bytes. */
export async function explain(file: Blob, name: string): Promise<PictureError> {
  if (file.size === 0) {
    return new PictureError(`${name} is empty. Copy it again; expected ${READABLE}.`);
  }
  const bytes = new Uint8Array(await file.slice(0, 64).arrayBuffer());
  const head = String.fromCharCode(...bytes);
  const kind = KINDS.find(({ starts, at = 0 }) =>
    head.slice(at).toLowerCase().startsWith(starts.toLowerCase()),
  );
  if (kind) return new PictureError(`${name} is ${kind.what}: ${kind.advice}.`);
  if (PICTURES.some((start) => head.startsWith(start))) {
    return new PictureError(`${name} is damaged or cut short. Copy it again.`);
  }
  return new PictureError(`${name} is not a picture. Expected ${READABLE}.`);
}
