// SPDX-License-Identifier: Apache-2.0
// Lines where a map crosses a value: marching squares between pixel middles. A pixel is covered as
// far as its middle lies within the line, so edges are smooth without a second pass.
import type { Pixels, SaliencyMap } from '../images/raster';
import { blendPixel } from './blend';
import type { Colour } from './palettes';

const HALF_WIDTH = 0.75; // pixels
const REACH = HALF_WIDTH + 0.5;

type Point = readonly [x: number, y: number];

function distanceToSegment(x: number, y: number, a: Point, b: Point): number {
  const dx = b[0] - a[0];
  const dy = b[1] - a[1];
  const length = dx * dx + dy * dy;
  const part = length > 0 ? ((x - a[0]) * dx + (y - a[1]) * dy) / length : 0;
  const along = Math.min(Math.max(part, 0), 1);
  return Math.hypot(x - a[0] - along * dx, y - a[1] - along * dy);
}

/** How much of each pixel the lines cover; segments that meet do not add up. */
class Coverage {
  private readonly covered: Float32Array;

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {
    this.covered = new Float32Array(width * height);
  }

  add(a: Point, b: Point): void {
    const left = Math.max(0, Math.floor(Math.min(a[0], b[0]) - REACH));
    const right = Math.min(this.width - 1, Math.ceil(Math.max(a[0], b[0]) + REACH));
    const top = Math.max(0, Math.floor(Math.min(a[1], b[1]) - REACH));
    const bottom = Math.min(this.height - 1, Math.ceil(Math.max(a[1], b[1]) + REACH));
    for (let y = top; y <= bottom; ++y) {
      for (let x = left; x <= right; ++x) {
        const share = Math.min(Math.max(REACH - distanceToSegment(x, y, a, b), 0), 1);
        const at = y * this.width + x;
        if (share > this.covered[at]) this.covered[at] = share;
      }
    }
  }

  paint(pixels: Pixels, colour: Colour): void {
    for (let at = 0; at < this.covered.length; ++at) {
      const share = this.covered[at];
      if (share === 0) continue;
      blendPixel(pixels, at % this.width, Math.floor(at / this.width), colour, share);
    }
  }
}

/** The line, or the two, through the square whose heights above the level are given clockwise from
 * its upper left corner. */
function drawSquare(coverage: Coverage, x: number, y: number, heights: number[]): void {
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
  if (crossed.length === 2) coverage.add(crossing(crossed[0]), crossing(crossed[1]));
  if (crossed.length < 4) return;
  // A saddle: the middle decides which corners belong together.
  const middle = (heights[0] + heights[1] + heights[2] + heights[3]) / 4;
  const first = middle >= 0 !== heights[0] >= 0 ? 3 : 0; // lines cut off corners 0 and 2, or 1, 3
  coverage.add(crossing(first), crossing((first + 1) % 4));
  coverage.add(crossing((first + 2) % 4), crossing((first + 3) % 4));
}

export function drawContour(pixels: Pixels, map: SaliencyMap, value: number, colour: Colour): void {
  const { width, height, values } = map;
  const coverage = new Coverage(width, height);
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
      drawSquare(coverage, x, y, corners.map((corner) => values[corner] - value));
    }
  }
  coverage.paint(pixels, colour);
}
