// SPDX-License-Identifier: Apache-2.0
// A picture made on the spot for those who have none at hand: many things that are alike and one
// that is odd, in colour, brightness or direction. The same number gives the same scene.
import type { Pixels } from '../images/raster';

const [WIDTH, HEIGHT] = [640, 480];
const [COLUMNS, ROWS] = [7, 5];
const LENGTH = 54; // of a bar
const THICKNESS = 17;

/** Numbers from 0 to 1, by a counter that is stirred. */
function randomNumbers(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Bar {
  x: number;
  y: number;
  angle: number; // radians
  colour: [number, number, number];
}

const COLOURS: [number, number, number][] = [
  [214, 84, 52],
  [58, 134, 196],
  [84, 158, 92],
  [222, 174, 60],
];

function makeBars(random: () => number): Bar[] {
  const odd = Math.floor(random() * COLUMNS * ROWS);
  const shift = Math.floor(random() * COLOURS.length);
  const angle = random() * Math.PI;
  return Array.from({ length: COLUMNS * ROWS }, (_, i) => {
    const jitter = () => (random() - 0.5) * 26;
    const isOdd = i === odd;
    return {
      x: ((i % COLUMNS) + 0.5) * (WIDTH / COLUMNS) + jitter(),
      y: (Math.floor(i / COLUMNS) + 0.5) * (HEIGHT / ROWS) + jitter(),
      angle: angle + (random() - 0.5) * 0.3 + (isOdd ? Math.PI / 2 : 0),
      colour: COLOURS[(shift + (isOdd ? 1 : 0)) % COLOURS.length],
    };
  });
}

export function makeScene(seed: number): Pixels {
  const random = randomNumbers(seed);
  const bars = makeBars(random);
  const data = new Uint8ClampedArray(4 * WIDTH * HEIGHT);
  for (let at = 0, y = 0; y < HEIGHT; ++y) {
    for (let x = 0; x < WIDTH; ++x, at += 4) {
      const light = 152 + 26 * Math.sin(x / 190 + seed) * Math.cos(y / 140) + 8 * (random() - 0.5);
      data.set([light, light, light - 6, 255], at);
    }
  }
  const pixels = { width: WIDTH, height: HEIGHT, data };
  for (const bar of bars) drawBar(pixels, bar);
  return pixels;
}

/** With round ends and smooth edges: by the distance from its middle line. */
function drawBar({ width, data }: Pixels, { x, y, angle, colour }: Bar): void {
  const [dx, dy] = [Math.cos(angle), Math.sin(angle)];
  const half = (LENGTH - THICKNESS) / 2;
  const reach = Math.ceil(LENGTH / 2) + 1;
  for (let py = Math.max(0, Math.floor(y) - reach); py < Math.min(HEIGHT, y + reach); ++py) {
    for (let px = Math.max(0, Math.floor(x) - reach); px < Math.min(WIDTH, x + reach); ++px) {
      const along = Math.min(Math.max((px - x) * dx + (py - y) * dy, -half), half);
      const away = Math.hypot(px - x - along * dx, py - y - along * dy);
      const share = Math.min(Math.max(THICKNESS / 2 + 0.5 - away, 0), 1);
      const at = 4 * (py * width + px);
      for (let c = 0; c < 3; ++c) data[at + c] += share * (colour[c] - data[at + c]);
    }
  }
}
