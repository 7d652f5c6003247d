// SPDX-License-Identifier: Apache-2.0
// Random draws, ellipsoids and smooth noise in space, for the made-up head. Knows no anatomy.
// Coordinates are millimetres: x right, y anterior, z superior.
import type { Vector3 } from './affine';

/** A small generator (a counter through a mixing function): the same seed gives the same head. */
export class Draws {
  constructor(private state: number) {}

  uniform(): number {
    this.state = (this.state + 0x9e3779b9) | 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.uniform();
  }

  /** 1 give or take a share. */
  around(share: number): number {
    return this.between(1 - share, 1 + share);
  }

  within(extent: number): Vector3 {
    const any = () => this.between(-extent, extent);
    return [any(), any(), any()];
  }

  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    return radius * Math.cos(2 * Math.PI * this.uniform());
  }

  /** A generator of its own, whatever is drawn from this one later. */
  fork(): Draws {
    return new Draws(Math.floor(this.uniform() * 2 ** 32) | 0);
  }
}

export class Ellipsoid {
  /** Semi: half its extents. Tilt: rise in z per y; seen from the side it leans. */
  constructor(
    readonly centre: Vector3,
    readonly semi: Vector3,
    private readonly tilt = 0,
  ) {}

  contains(x: number, y: number, z: number): boolean {
    const qx = (x - this.centre[0]) / this.semi[0];
    const dy = y - this.centre[1];
    const qy = dy / this.semi[1];
    const qz = (z - this.centre[2] - this.tilt * dy) / this.semi[2];
    return qx * qx + qy * qy + qz * qz < 1;
  }

  /** Below 0 inside; near the surface about the distance to it in millimetres. */
  distance(x: number, y: number, z: number): number {
    const [a, b, c] = this.semi;
    const dy = y - this.centre[1];
    const qx = (x - this.centre[0]) / a;
    const qy = dy / b;
    const qz = (z - this.centre[2] - this.tilt * dy) / c;
    const radius = Math.sqrt(qx * qx + qy * qy + qz * qz);
    const slope = Math.sqrt((qx / a) ** 2 + (qy / b) ** 2 + (qz / c) ** 2);
    return slope > 0 ? (radius * (radius - 1)) / slope : -Math.min(a, b, c);
  }
}

export function smoothStep(from: number, to: number, x: number): number {
  const t = Math.min(Math.max((x - from) / (to - from), 0), 1);
  return t * t * (3 - 2 * t);
}

/** The nearer of two surfaces, with a hollow of that width (mm) between them filled. */
export function blended(a: number, b: number, width: number): number {
  const h = Math.max(width - Math.abs(a - b), 0) / width;
  return Math.min(a, b) - (h * h * width) / 4;
}

const period = 16; // a power of two
const mask = period - 1;

function fade(t: number): number {
  return t * t * t * (t * (t * 6 - 15) + 10);
}

function mix(a: number, b: number, share: number): number {
  return a + share * (b - a);
}

/** Gradient noise: smooth, about -1 to 1, mean 0, with bumps about one wavelength (mm) apart.
 * Repeats after 16 wavelengths. */
export class NoiseField {
  private readonly gradients = new Float64Array(period ** 3 * 3);
  private readonly frequency: number;
  private readonly turn: number[]; // a rotation, row by row, so that no axis shows

  constructor(draws: Draws, wavelength: number) {
    this.frequency = 1 / wavelength;
    this.turn = rotation(draws.within(1));
    for (let i = 0; i < this.gradients.length; i += 3) {
      const direction = [draws.normal(), draws.normal(), draws.normal()];
      const length = Math.hypot(...direction) || 1;
      for (let axis = 0; axis < 3; ++axis) this.gradients[i + axis] = direction[axis] / length;
    }
  }

  at(x: number, y: number, z: number): number {
    const { turn, frequency } = this;
    const u = (turn[0] * x + turn[1] * y + turn[2] * z) * frequency;
    const v = (turn[3] * x + turn[4] * y + turn[5] * z) * frequency;
    const w = (turn[6] * x + turn[7] * y + turn[8] * z) * frequency;
    const i = Math.floor(u);
    const j = Math.floor(v);
    const k = Math.floor(w);
    const fx = u - i;
    const fy = v - j;
    const fz = w - k;
    const sx = fade(fx);
    const low = mix(
      this.edge(i, j, k, fx, fy, fz, sx),
      this.edge(i, j + 1, k, fx, fy - 1, fz, sx),
      fade(fy),
    );
    const high = mix(
      this.edge(i, j, k + 1, fx, fy, fz - 1, sx),
      this.edge(i, j + 1, k + 1, fx, fy - 1, fz - 1, sx),
      fade(fy),
    );
    return 1.5 * mix(low, high, fade(fz)); // 1.5 brings the usual extremes near 1
  }

  private edge(
    i: number,
    j: number,
    k: number,
    x: number,
    y: number,
    z: number,
    share: number,
  ): number {
    return mix(this.corner(i, j, k, x, y, z), this.corner(i + 1, j, k, x - 1, y, z), share);
  }

  private corner(i: number, j: number, k: number, x: number, y: number, z: number): number {
    const place = (((i & mask) * period + (j & mask)) * period + (k & mask)) * 3;
    const { gradients } = this;
    return gradients[place] * x + gradients[place + 1] * y + gradients[place + 2] * z;
  }
}

/** About the direction of `axis` by twice the angle whose tangent is its length. */
function rotation([x, y, z]: Vector3): number[] {
  const norm = 1 / (1 + x * x + y * y + z * z);
  return [
    1 + x * x - y * y - z * z, 2 * (x * y - z), 2 * (x * z + y),
    2 * (x * y + z), 1 - x * x + y * y - z * z, 2 * (y * z - x),
    2 * (x * z - y), 2 * (y * z + x), 1 - x * x - y * y + z * z,
  ].map((value) => value * norm);
}
