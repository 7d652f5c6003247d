// SPDX-License-Identifier: Apache-2.0
// The colours of maps, the same as those of `ubique run`: palettes that run through a few anchors,
// dark to light, so that they also read in grey; jet is the usual formula.

export type Colour = readonly [number, number, number];
export const paletteNames = ['inferno', 'viridis', 'jet', 'grey'] as const;
export type Palette = (typeof paletteNames)[number];

const inferno: Colour[] = [
  [2, 2, 8],
  [48, 12, 88],
  [112, 26, 108],
  [180, 48, 84],
  [232, 98, 40],
  [250, 174, 34],
  [252, 252, 170],
];
const viridis: Colour[] = [
  [66, 6, 88],
  [66, 58, 130],
  [48, 104, 142],
  [34, 144, 140],
  [58, 182, 118],
  [144, 214, 66],
  [250, 230, 40],
];

function betweenAnchors(anchors: Colour[], share: number): Colour {
  const place = share * (anchors.length - 1);
  const lower = Math.min(Math.floor(place), anchors.length - 2);
  const part = place - lower;
  const mix = (c: number) =>
    Math.round(anchors[lower][c] * (1 - part) + anchors[lower + 1][c] * part);
  return [mix(0), mix(1), mix(2)];
}

function jet(share: number): Colour {
  const part = (c: number) =>
    Math.round(255 * Math.min(Math.max(1.5 - Math.abs(4 * share - (3 - c)), 0), 1));
  return [part(0), part(1), part(2)];
}

/** A share from 0 to 1, clamped. */
export function paletteColour(palette: Palette, share: number): Colour {
  const inside = share > 0 ? Math.min(share, 1) : 0;
  if (palette === 'jet') return jet(inside);
  if (palette === 'inferno') return betweenAnchors(inferno, inside);
  if (palette === 'viridis') return betweenAnchors(viridis, inside);
  const grey = Math.round(255 * inside);
  return [grey, grey, grey];
}

/** As many colours, three values each: a picture has more pixels than that. */
export function paletteTable(palette: Palette, levels = 256): Uint8Array {
  const table = new Uint8Array(3 * levels);
  for (let i = 0; i < levels; ++i) table.set(paletteColour(palette, i / (levels - 1)), 3 * i);
  return table;
}
