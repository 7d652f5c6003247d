// SPDX-License-Identifier: Apache-2.0
// Reads the PNG files that ubique and canvases write (8 bits, grey, RGB or RGBA), for comparisons.
import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import type { Pixels } from '../../saliency/src/images/raster';

const CHANNELS: Record<number, number> = { 0: 1, 2: 3, 6: 4 }; // by colour type

function paeth(a: number, b: number, c: number): number {
  const p = a + b - c;
  const [da, db, dc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
  return da <= db && da <= dc ? a : db <= dc ? b : c;
}

function unfilter(raw: Uint8Array, height: number, row: number, step: number): Uint8Array {
  const out = new Uint8Array(height * row);
  for (let y = 0; y < height; ++y) {
    const filter = raw[y * (row + 1)];
    for (let i = 0; i < row; ++i) {
      const at = y * row + i;
      const left = i >= step ? out[at - step] : 0;
      const up = y > 0 ? out[at - row] : 0;
      const corner = i >= step && y > 0 ? out[at - row - step] : 0;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
      out[at] = raw[y * (row + 1) + 1 + i] + guess;
    }
  }
  return out;
}

export function parsePng(bytes: Buffer): Pixels {
  let header: Buffer = Buffer.alloc(0);
  const parts: Buffer[] = [];
  for (let at = 8; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const kind = bytes.toString('latin1', at + 4, at + 8);
    const body = bytes.subarray(at + 8, at + 8 + length);
    if (kind === 'IHDR') header = body;
    if (kind === 'IDAT') parts.push(body);
    at += length + 12;
  }
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const channels = CHANNELS[header[9]];
  if (header[8] !== 8 || !channels || header[12] !== 0) throw new Error('another kind of PNG');
  const values = unfilter(inflateSync(Buffer.concat(parts)), height, width * channels, channels);
  const data = new Uint8ClampedArray(4 * width * height).fill(255);
  for (let i = 0; i < width * height; ++i) {
    for (let c = 0; c < Math.max(3, channels); ++c) {
      data[4 * i + c] = values[channels * i + (channels < 3 ? 0 : c)];
    }
  }
  return { width, height, data };
}

export function readPng(path: string): Pixels {
  return parsePng(readFileSync(path));
}

/** Largest difference between two pictures of one size. */
export function pixelDifference(a: Pixels, b: Pixels): number {
  if (a.width !== b.width || a.height !== b.height) return Infinity;
  return a.data.reduce((worst, value, i) => Math.max(worst, Math.abs(value - b.data[i])), 0);
}

/** Share of values that differ by more than `step`. */
export function shareBeyond(a: Pixels, b: Pixels, step: number): number {
  if (a.width !== b.width || a.height !== b.height) return 1;
  const beyond = a.data.filter((value, i) => Math.abs(value - b.data[i]) > step);
  return beyond.length / a.data.length;
}
