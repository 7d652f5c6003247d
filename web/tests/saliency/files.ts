// SPDX-License-Identifier: Apache-2.0
// Files as people have them: a JPEG whose camera was turned, a PNG with transparency.
import { readFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { readPng } from './png';

const TURNED = 6; // to be shown turned clockwise

/** The Exif segment that says how the camera was held. */
function exif(orientation: number): Buffer {
  const body = Buffer.from(
    'Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0', 'latin1',
  );
  body.writeUInt16BE(orientation, 24);
  const head = Buffer.from([0xff, 0xe1, 0, 0]);
  head.writeUInt16BE(body.length + 2, 2);
  return Buffer.concat([head, body]);
}

/** The picture as a JPEG, encoded by the browser. */
export async function turnedJpeg(page: Page, path: string): Promise<Buffer> {
  const bytes = await page.evaluate(async (content) => {
    const bitmap = await createImageBitmap(new Blob([new Uint8Array(content)]));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
    const jpeg = await canvas.convertToBlob({ type: 'image/jpeg', quality: 0.95 });
    return [...new Uint8Array(await jpeg.arrayBuffer())];
  }, [...readFileSync(path)]);
  const jpeg = Buffer.from(bytes);
  return Buffer.concat([jpeg.subarray(0, 2), exif(TURNED), jpeg.subarray(2)]);
}

function chunk(kind: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(kind, 'latin1'), body]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(body.length, 0);
  ends.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([ends.subarray(0, 4), named, ends.subarray(4)]);
}

/** The same colours, more and more transparent from left to right, and nothing left at the end. */
export function withOpacity(path: string): Buffer {
  const { width, height, data } = readPng(path);
  const raw = Buffer.alloc(height * (4 * width + 1));
  for (let y = 0; y < height; ++y) {
    for (let x = 0; x < width; ++x) {
      const at = y * (4 * width + 1) + 1 + 4 * x;
      raw.set(data.subarray(4 * (y * width + x), 4 * (y * width + x) + 3), at);
      raw[at + 3] = Math.max(0, 255 - Math.round((300 * x) / width));
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 6], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(raw)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
