// SPDX-License-Identifier: Apache-2.0
// Lines where a map crosses a value: marching squares between pixel middles. A pixel is covered as
// far as its middle lies within the line, so edges are smooth without a second pass. A dark rim
// lets the line be seen on white pages too.
import type { Pixels, SaliencyMap } from '../images/raster';
import { blendPixel } from './blend';
import type { Colour } from './palettes';

const RIM: Colour = [20, 20, 20];
const RIM_OPACITY = 0.5;

/** In pixels; a large picture is looked at from further away. */
function halfWidthOf(width: number, height: number): number {
  return 0.75 * Math.max(1, Math.max(width, height) / 1200);
}

type Point = readonly [x: number, y: number];

function distanceToSegment(x: number, y: number, a: Point, b: Point): number {
  const dx = b[0] - a[0];
  const dy = b[1] - a[1];
  const length = dx * dx + dy * dy;
  const part = length > 0 ? ((x - a[0]) * dx + (y - a[1]) * dy) / length : 0;
  const along = Math.min(Math.max(part, 0), 1);
  return Math.hypot(x - a[0] - along * dx, y - a[1] - along * dy);
}

/** How far each pixel is from the nearest line. */
class LineDistance {
  private readonly away: Float32Array;
  private readonly half: number;

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {
    this.away = new Float32Array(width * height).fill(Infinity);
    this.half = halfWidthOf(width, height);
  }

  add(a: Point, b: Point): void {
    const reach = 2 * this.half + 0.5;
    const left = Math.max(0, Math.floor(Math.min(a[0], b[0]) - reach));
    const right = Math.min(this.width - 1, Math.ceil(Math.max(a[0], b[0]) + reach));
    const top = Math.max(0, Math.floor(Math.min(a[1], b[1]) - reach));
    const bottom = Math.min(this.height - 1, Math.ceil(Math.max(a[1], b[1]) + reach));
    for (let y = top; y <= bottom; ++y) {
      for (let x = left; x <= right; ++x) {
        const at = y * this.width + x;
        this.away[at] = Math.min(this.away[at], distanceToSegment(x, y, a, b));
      }
    }
  }

  paint(pixels: Pixels, colour: Colour): void {
    const within = (reach: number, away: number) => Math.min(Math.max(reach + 0.5 - away, 0), 1);
    for (let at = 0; at < this.away.length; ++at) {
      const rim = within(2 * this.half, this.away[at]);
      if (rim === 0) continue;
      const x = at % this.width;
      const y = Math.floor(at / this.width);
      blendPixel(pixels, x, y, RIM, RIM_OPACITY * rim);
      blendPixel(pixels, x, y, colour, within(this.half, this.away[at]));
    }
  }
}

/** The line, or the two, through the square whose heights above the level are given clockwise from
 * its upper left corner. */
function drawSquare(lines: LineDistance, x: number, y: number, heights: number[]): void {
  const corners: Point[] = [
    [x, y],
    [x + 1, y],
    [x + 1, y + 1],
    [x, y + 1],
  ];
  const crossing = (side: number): Point => {
    const next = (side + 1) % 4;
    const part = heights[side] / (heights[side] - heights[next]);
    const along = (axis: 0 | 1) =>
      corners[side][axis] + part * (corners[next][axis] - corners[side][axis]);
    return [along(0), along(1)];
  };
  const crossed = [0, 1, 2, 3].filter(
    (side) => heights[side] >= 0 !== heights[(side + 1) % 4] >= 0,
  );
  if (crossed.length === 2) lines.add(crossing(crossed[0]), crossing(crossed[1]));
  if (crossed.length < 4) return;
  // A saddle: the middle decides which corners belong together.
  const middle = (heights[0] + heights[1] + heights[2] + heights[3]) / 4;
  const first = middle >= 0 !== heights[0] >= 0 ? 3 : 0; // lines cut off corners 0 and 2, or 1, 3
  lines.add(crossing(first), crossing((first + 1) % 4));
  lines.add(crossing((first + 2) % 4), crossing((first + 3) % 4));
}

export function drawContour(pixels: Pixels, map: SaliencyMap, value: number, colour: Colour): void {
  const { width, height, values } = map;
  const lines = new LineDistance(width, height);
  for (let y = 0; y + 1 < height; ++y) {
    for (let x = 0; x + 1 < width; ++x) {
      const at = y * width + x;
      const above = values[at] >= value;
      const same =
        values[at + 1] >= value === above &&
        values[at + width] >= value === above &&
        values[at + width + 1] >= value === above;
      if (same) continue;
      const corners = [at, at + 1, at + width + 1, at + width];
      drawSquare(lines, x, y, corners.map((corner) => values[corner] - value));
    }
  }
  lines.paint(pixels, colour);
}
