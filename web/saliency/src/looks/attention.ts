// SPDX-License-Identifier: Apache-2.0
// How much of a map's mass falls into boxes: which part of a page or an advertisement gets how much
// of the attention. The same sums as `ubique run --boxes`.
import { type MeasuredMap, shareOf } from '../images/raster';

/** In pixels of the picture from its top left corner. */
export interface Box {
  name: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Attention {
  share: number; // of the map's mass, 0 to 1
  area: number; // of the picture that the box covers, 0 to 1
  lift: number; // 1: no more than its size would get by chance
  peak: number; // the map's highest value in the box, 0 to 1 of its range
}

/** The part of an axis that a box takes, inside of the picture. */
function stretch(from: number, length: number, limit: number): [number, number] {
  const clamp = (value: number) => Math.min(Math.max(value, 0), limit);
  return [clamp(from), clamp(from + length)];
}

/** How much of pixel i a stretch covers. */
const covered = ([begin, end]: [number, number], i: number) =>
  Math.min(end, i + 1) - Math.max(begin, i);

/** Pixels at the edge count as far as they are covered; nothing for a box wholly outside. */
export function attentionIn(map: MeasuredMap, box: Box): Attention | undefined {
  const { width, height, values, min, max, sum } = map;
  const across = stretch(box.x, box.width, width);
  const down = stretch(box.y, box.height, height);
  const area = ((across[1] - across[0]) * (down[1] - down[0])) / (width * height);
  if (!(area > 0)) return undefined;
  const shift = Math.min(min, 0);
  const mass = sum - shift * width * height;
  const even = min === max || !(mass > 0);
  let share = 0;
  let highest = min;
  for (let y = Math.floor(down[0]); y < Math.ceil(down[1]); ++y) {
    let row = 0;
    for (let x = Math.floor(across[0]); x < Math.ceil(across[1]); ++x) {
      const value = values[y * width + x];
      row += covered(across, x) * (even ? 1 / (width * height) : (value - shift) / mass);
      highest = Math.max(highest, value);
    }
    share += covered(down, y) * row;
  }
  return { share, area, lift: share / area, peak: shareOf(map, highest) };
}

const quoted = (text: string) =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** The same columns as attention.csv of `ubique run`. */
export function attentionCsv(picture: string, rows: [Box, Attention][]): string {
  const lines = rows.map(([box, { share, area, lift, peak }]) =>
    [
      quoted(picture), quoted(box.name), box.x, box.y, box.width, box.height,
      share.toFixed(6), area.toFixed(6), lift.toFixed(4), peak.toFixed(6),
    ].join(','),
  );
  return ['image,name,x,y,w,h,share,area,lift,peak', ...lines, ''].join('\n');
}
