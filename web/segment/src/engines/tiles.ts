// SPDX-License-Identifier: Apache-2.0
// A volume in parts that fit in memory. Each part is computed with the halo that its voxels see,
// cut off where the volume ends, so that zero padding happens at the real border only and the
// labels are those of the whole volume. Knows engines only by what they compute.
import type { Engine, Progress, Volume } from './engine';
import type { Manifest, Shape3 } from '../model';
import { type Box, copyBox, extentOf, voxelsOf } from './shape';

/** What is kept (core) of what is computed (input). */
export interface Tile {
  core: Box;
  input: Box;
}

export interface Plan {
  tiles: Tile[];
  computedVoxels: number; // those of halos counted as often as they are computed
  peakBytes: number;
}

interface Span {
  core: [number, number];
  input: [number, number];
}

/** Voxels on each side that a label depends on; none where it depends on the whole volume. */
export function haloOf(manifest: Manifest): number | null {
  return manifest.norm === 'instance' ? null : (manifest.receptive_field - 1) / 2;
}

/** One axis in `parts` spans whose inputs are equally long. */
function splitAxis(length: number, parts: number, halo: number): Span[] {
  const extent = Math.ceil((length + 2 * halo * (parts - 1)) / parts);
  const spans: Span[] = [];
  for (let start = 0; start < length;) {
    const room = start === 0 ? extent - halo : extent - 2 * halo;
    const last = length - start <= room + halo; // no halo is needed beyond the border
    const end = last ? length : start + room;
    spans.push({
      core: [start, end],
      input: [Math.max(0, start - halo), Math.min(length, end + halo)],
    });
    start = end;
  }
  return spans;
}

/** Every division of an axis that makes its parts smaller, from none on. */
function divisions(length: number, halo: number | null): Span[][] {
  const whole: Span[] = [{ core: [0, length], input: [0, length] }];
  if (halo === null || length <= 2 * halo + 1) return [whole]; // the middle sees everything
  const found = [whole];
  for (let parts = 2; parts <= length; ++parts) {
    const spans = splitAxis(length, parts, halo);
    if (longest(spans) < longest(found[found.length - 1])) found.push(spans);
    if (longest(spans) <= 2 * halo + 1) break;
  }
  return found;
}

function longest(spans: Span[]): number {
  return Math.max(...spans.map((span) => span.input[1] - span.input[0]));
}

function computed(spans: Span[]): number {
  return spans.reduce((sum, span) => sum + span.input[1] - span.input[0], 0);
}

/** The division that computes the least twice and stays within the limit, or null. */
export function planTiles(
  shape: Shape3,
  halo: number | null,
  memoryLimit: number,
  peakBytes: (shape: Shape3) => number,
): Plan | null {
  const axes = shape.map((length) => divisions(length, halo));
  let best: { spans: [Span[], Span[], Span[]]; voxels: number; bytes: number } | null = null;
  for (const d of axes[0]) {
    for (const h of axes[1]) {
      for (const w of axes[2]) {
        const voxels = computed(d) * computed(h) * computed(w);
        if (best !== null && voxels >= best.voxels) continue;
        const bytes = peakBytes([longest(d), longest(h), longest(w)]) + wholeBytes(shape);
        if (bytes <= memoryLimit) best = { spans: [d, h, w], voxels, bytes };
      }
    }
  }
  if (best === null) return null;
  return { tiles: product(best.spans), computedVoxels: best.voxels, peakBytes: best.bytes };
}

/** The scan, which page and worker both hold, and its labels, whatever the tiles. */
function wholeBytes(shape: Shape3): number {
  return voxelsOf(shape) * (4 + 4 + 1);
}

function product([ds, hs, ws]: [Span[], Span[], Span[]]): Tile[] {
  const tiles: Tile[] = [];
  for (const d of ds) {
    for (const h of hs) {
      for (const w of ws)
        tiles.push({ core: boxOf('core', d, h, w), input: boxOf('input', d, h, w) });
    }
  }
  return tiles;
}

function boxOf(part: keyof Span, d: Span, h: Span, w: Span): Box {
  return { start: [d[part][0], h[part][0], w[part][0]], end: [d[part][1], h[part][1], w[part][1]] };
}

/** Labels of a volume, tile by tile. */
export async function labelTiles(
  engine: Engine,
  volume: Volume,
  tiles: Tile[],
  onProgress: (progress: Progress) => void,
): Promise<Uint8Array> {
  if (tiles.length === 1) return engine.labels(volume, { onProgress });
  const labels = new Uint8Array(voxelsOf(volume.shape)); // (D, H, W)
  for (const [index, tile] of tiles.entries()) {
    const shape = extentOf(tile.input);
    const values = new Float32Array(voxelsOf(shape));
    copyBox(volume.values, volume.shape, tile.input, values, shape, [0, 0, 0]);
    const found = await engine.labels(
      { shape, values },
      {
        onProgress: ({ done, total }) =>
          onProgress({ done: index + done / total, total: tiles.length, what: 'tile' }),
      },
    );
    copyBox(found, shape, within(tile), labels, volume.shape, tile.core.start);
    if (index + 1 < tiles.length) {
      onProgress({ done: index + 1, total: tiles.length, what: 'tile' });
    }
  }
  return labels;
}

/** A tile's core in the coordinates of its input. */
export function within({ core, input }: Tile): Box {
  const shift = (p: Shape3): Shape3 => [
    p[0] - input.start[0],
    p[1] - input.start[1],
    p[2] - input.start[2],
  ];
  return { start: shift(core.start), end: shift(core.end) };
}
