// SPDX-License-Identifier: Apache-2.0
// One colour mixed into one pixel.
import type { Pixels } from '../images/raster';
import type { Colour } from './palettes';

/** Outside of the picture nothing happens. */
export function blendPixel(
  { width, height, data }: Pixels,
  x: number,
  y: number,
  colour: Colour,
  opacity: number,
): void {
  if (x < 0 || y < 0 || x >= width || y >= height) return;
  const at = 4 * (y * width + x);
  for (let c = 0; c < 3; ++c) {
    data[at + c] = Math.round((1 - opacity) * data[at + c] + opacity * colour[c]);
  }
}
