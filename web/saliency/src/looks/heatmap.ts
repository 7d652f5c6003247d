// SPDX-License-Identifier: Apache-2.0
// Pictures of maps, drawn as `ubique run` draws them: in colour, and laid over the picture, with
// contours and the places where a viewer would look first.
import { type MeasuredMap, type Pixels, type SaliencyMap, shareOf } from '../images/raster';
import { roundHalfEven } from '../images/taps';
import { drawContour } from './contours';
import { type Palette, paletteTable } from './palettes';
import { drawPeaks, findPeaks } from './peaks';

export interface Style {
  palette: Palette;
  alpha: number; // opacity of the colours where the map is highest; it falls with the map
  contours: number[]; // levels to draw, as shares of the map's range
  peaks: number; // how many places to mark
}

const LEVELS = 1024; // steps of opacity and colour between a map's lowest and highest value

function drawMarks(pixels: Pixels, map: MeasuredMap, style: Style): void {
  const range = map.max - map.min;
  for (const level of range > 0 ? style.contours : []) {
    drawContour(pixels, map, map.min + level * range, [255, 255, 255]);
  }
  if (style.peaks > 0) drawPeaks(pixels, findPeaks(map, style.peaks));
}

/** The map over the picture, which stays as it is; both of one size. */
export function drawOverlay(picture: Pixels, map: MeasuredMap, style: Style): Pixels {
  const { width, height } = picture;
  const table = paletteTable(style.palette, LEVELS);
  const data = new Uint8ClampedArray(4 * width * height);
  for (let i = 0, at = 0; i < map.values.length; ++i, at += 4) {
    const level = Math.round((LEVELS - 1) * shareOf(map, map.values[i]));
    const opacity = style.alpha * Math.sqrt(level / (LEVELS - 1));
    const colour = 3 * level;
    for (let c = 0; c < 3; ++c) {
      data[at + c] = Math.round((1 - opacity) * picture.data[at + c] + opacity * table[colour + c]);
    }
    data[at + 3] = 255;
  }
  const pixels = { width, height, data };
  drawMarks(pixels, map, style);
  return pixels;
}

/** The map alone, from its lowest to its highest value through the palette. */
export function drawMap(map: MeasuredMap, style: Style): Pixels {
  const { width, height } = map;
  const table = paletteTable(style.palette, LEVELS);
  const data = new Uint8ClampedArray(4 * width * height);
  for (let i = 0, at = 0; i < map.values.length; ++i, at += 4) {
    const colour = 3 * Math.round((LEVELS - 1) * shareOf(map, map.values[i]));
    for (let c = 0; c < 3; ++c) data[at + c] = table[colour + c];
    data[at + 3] = 255;
  }
  const pixels = { width, height, data };
  drawMarks(pixels, map, style);
  return pixels;
}

/** The values themselves as grey, 0 to 255: the file that `ubique run` writes. */
export function greyPicture({ width, height, values }: SaliencyMap): Pixels {
  const data = new Uint8ClampedArray(4 * width * height);
  for (let i = 0, at = 0; i < values.length; ++i, at += 4) {
    data.fill(roundHalfEven(values[i]), at, at + 3);
    data[at + 3] = 255;
  }
  return { width, height, data };
}
