// SPDX-License-Identifier: Apache-2.0
// A made-up T2 scan of a made-up head with a lesion, for people without a scan: of no person, the
// same for the same seed. Brightness, bias and noise are like those of `ubique data meshnet synth`.
import type { Shape3 } from '../model';
import { type Affine, zeroAffine } from './affine';
import { Head, Material } from './head-anatomy';
import { Draws, NoiseField } from './head-geometry';
import type { Scan } from './scan';
import { check } from './scan-error';

export interface HeadOptions {
  size: number; // voxels along each side
  seed: number;
}

const fieldOfView = 192; // mm along each side; a head fills 190
/** Of air, fat, muscle, bone, marrow, fluid, grey, white, stem, vitreous: Material's order. */
const brightness = [6, 470, 190, 50, 240, 900, 500, 365, 400, 940];
const noiseDeviation = 20;
const biasStrength = 0.2;
const lesionBrightness = 0.8; // 0 like grey matter, 1 like fluid

/** One scanner's view of the head: what it would measure at a point, before bias and noise. */
class Scanner {
  private readonly head: Head;
  private readonly texture: NoiseField;
  private readonly bias: NoiseField;
  private readonly noise: Draws;

  constructor(
    draws: Draws,
    private readonly spacing: number,
  ) {
    this.head = new Head(draws.fork());
    this.texture = new NoiseField(draws.fork(), 11);
    this.bias = new NoiseField(draws.fork(), 170);
    this.noise = draws.fork();
  }

  voxel(x: number, y: number, z: number): number {
    let value = brightness[Material.air];
    if (this.head.outline(x, y, z) <= this.spacing) {
      value = this.average(x, y, z) * (1 + biasStrength * this.bias.at(x, y, z));
    }
    // The magnitude of a complex signal.
    const real = value + noiseDeviation * this.noise.normal();
    return Math.hypot(real, noiseDeviation * this.noise.normal());
  }

  /** Coarse voxels hold several tissues. */
  private average(x: number, y: number, z: number): number {
    if (this.spacing <= 1.5) return this.point(x, y, z);
    const quarter = this.spacing / 4;
    let sum = 0;
    for (let part = 0; part < 8; ++part) {
      const offset = (bit: number) => (part & bit ? quarter : -quarter);
      sum += this.point(x + offset(1), y + offset(2), z + offset(4));
    }
    return sum / 8;
  }

  private point(x: number, y: number, z: number): number {
    const material = this.head.at(x, y, z);
    if (material === Material.air) return brightness[material];
    const value = brightness[material] * (1 + 0.06 * this.texture.at(x, y, z));
    if (material !== Material.grey && material !== Material.white) return value;
    const grey = brightness[Material.grey];
    const core = grey + lesionBrightness * (brightness[Material.fluid] - grey);
    return value + this.head.lesionShare(x, y, z) * (core - value);
  }
}

function centredAffine(size: number, spacing: number): Affine {
  const affine = zeroAffine();
  for (let axis = 0; axis < 3; ++axis) {
    affine[axis][axis] = spacing;
    affine[axis][3] = (-(size - 1) / 2) * spacing;
  }
  return affine;
}

export function makeHead({ size, seed }: HeadOptions): Scan {
  check(
    Number.isInteger(size) && size >= 16 && size <= 512,
    () => `No synthetic head of ${size} voxels along each side. Expected 16 to 512.`,
  );
  const spacing = fieldOfView / size;
  const scanner = new Scanner(new Draws(seed), spacing);
  const values = new Float32Array(size ** 3); // (x, y, z)
  const first = (-(size - 1) / 2) * spacing;
  const at = (index: number) => first + index * spacing; // mm
  for (let i = 0, place = 0; i < size; ++i) {
    for (let j = 0; j < size; ++j) {
      for (let k = 0; k < size; ++k, ++place) {
        values[place] = scanner.voxel(at(i), at(j), at(k));
      }
    }
  }
  return asScan(values, size, spacing);
}

function asScan(values: Float32Array, size: number, spacing: number): Scan {
  const shape: Shape3 = [size, size, size];
  const affine = centredAffine(size, spacing);
  return {
    volume: { shape, affine, values },
    header: {
      type: 'f32',
      swapped: false,
      shape,
      volumes: 1,
      slope: 1,
      inter: 0,
      scaled: false,
      description: 'synthetic head, of no person',
      dataBegin: 0,
      affine,
      spacing: [spacing, spacing, spacing],
      qformCode: 0,
      sformCode: 1,
    },
    storedIntegers: false,
    name: 'synthetic-head',
  };
}
