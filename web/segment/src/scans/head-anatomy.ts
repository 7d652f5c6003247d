// SPDX-License-Identifier: Apache-2.0
// What is where in the made-up head: scalp, skull, fluid, folded cortex, white matter, ventricles,
// deep grey matter, cerebellum, brainstem, eyes, a lesion. Sizes are those of an adult, in
// millimetres, each varied by a few per cent.
import type { Vector3 } from './affine';
import { type Draws, Ellipsoid, NoiseField, blended, smoothStep } from './head-geometry';

/** What a scanner can tell apart. */
export const Material = {
  air: 0, fat: 1, muscle: 2, bone: 3, marrow: 4, fluid: 5, grey: 6, white: 7, stem: 8, vitreous: 9,
} as const;
export type Material = (typeof Material)[keyof typeof Material];

function varied(draws: Draws, centre: Vector3, semi: Vector3, tilt = 0): Ellipsoid {
  const size = draws.around(0.06);
  const moved = draws.within(1);
  return new Ellipsoid(
    [centre[0] + moved[0], centre[1] + moved[1], centre[2] + moved[2]],
    [semi[0] * size, semi[1] * size * draws.around(0.04), semi[2] * size],
    tilt,
  );
}

/** The same on both sides, but not quite. */
function pair(draws: Draws, [x, y, z]: Vector3, semi: Vector3, tilt = 0): Ellipsoid[] {
  return [varied(draws, [x, y, z], semi, tilt), varied(draws, [-x, y, z], semi, tilt)];
}

function anyContains(parts: Ellipsoid[], x: number, y: number, z: number): boolean {
  for (const part of parts) if (part.contains(x, y, z)) return true;
  return false;
}

/** The cerebrum ends below in a flat base, above the cerebellum. */
function withFlatBase(distance: number, y: number, z: number): number {
  return Math.max(distance, -34 + 0.2 * Math.max(0, y) - z);
}

export class Head {
  private readonly cerebrum: Ellipsoid;
  private readonly cerebellum: Ellipsoid;
  private readonly stem: Ellipsoid;
  private readonly canal = new Ellipsoid([0, -26, -95], [11, 12, 60]);
  private readonly face: Ellipsoid;
  private readonly neck: Ellipsoid;
  private readonly ventricles: Ellipsoid[];
  private readonly fissures: Ellipsoid[];
  private readonly deepGrey: Ellipsoid[];
  private readonly eyes: Ellipsoid[];
  private readonly sinuses: Ellipsoid[];
  private readonly lesion: Ellipsoid;
  private readonly bumps: NoiseField;
  private readonly gyri: NoiseField;
  private readonly smallGyri: NoiseField;
  private readonly folia: NoiseField;
  private readonly fluidGap: number;
  private readonly bone: number;
  private readonly scalp: number;
  private readonly sulcus: number;
  private readonly cortex: number;

  constructor(draws: Draws) {
    this.bumps = new NoiseField(draws.fork(), 45);
    this.gyri = new NoiseField(draws.fork(), 26);
    this.smallGyri = new NoiseField(draws.fork(), 15);
    this.folia = new NoiseField(draws.fork(), 7);
    this.cerebrum = varied(draws, [0, 0, 13], [63, 77, 57]);
    this.cerebellum = varied(draws, [0, -40, -38], [46, 31, 23]);
    this.stem = varied(draws, [0, -18, -48], [12, 13, 42], -0.15);
    this.face = varied(draws, [0, 44, -58], [46, 44, 56]);
    this.neck = varied(draws, [0, -20, -108], [52, 58, 80]);
    const age = draws.between(0.75, 1.45); // wider ventricles and sulci
    this.ventricles = [
      ...pair(draws, [9 + 2 * age, -2, 24], [4.5 * age, 28, 6 * age], -0.1),
      ...pair(draws, [11 + 2 * age, 22, 20], [4 * age, 10, 7 * age]),
      ...pair(draws, [19, -34, 17], [5 * age, 16, 7 * age], -0.2),
      ...pair(draws, [29, -14, -8], [3 * age, 15, 3 * age], 0.3),
      varied(draws, [0, -4, 6], [2 * age, 13, 9]),
      varied(draws, [0, -31, -36], [5 * age, 5, 8]),
    ];
    this.fissures = pair(draws, [47, 8, 2], [17, 24, 1.6 * age], 0.25);
    this.deepGrey = [
      ...pair(draws, [11, -12, 10], [8, 14, 9]),
      ...pair(draws, [25, 4, 6], [6, 16, 10]),
      ...pair(draws, [16, 16, 16], [4, 11, 8], 0.2),
    ];
    this.eyes = pair(draws, [31, 66, -37], [12, 12, 12]);
    this.sinuses = [
      ...pair(draws, [21, 62, -64], [11, 13, 12]),
      varied(draws, [0, 62, -46], [8, 18, 10]),
    ];
    this.lesion = varied(draws, [-38, draws.between(-20, 15), draws.between(10, 30)], [17, 21, 15]);
    this.fluidGap = draws.between(2.2, 3.2) + 1.2 * age;
    this.bone = draws.between(5.5, 8);
    this.scalp = draws.between(5, 7.5);
    this.sulcus = 0.75 * age;
    this.cortex = draws.between(2.8, 3.4);
  }

  /** Below 0 inside the head. */
  outline(x: number, y: number, z: number): number {
    const cranium =
      blended(this.cerebrum.distance(x, y, z), this.cerebellum.distance(x, y, z), 20) -
      this.fluidGap - this.bone - this.scalp;
    const below = Math.min(this.face.distance(x, y, z), this.neck.distance(x, y, z));
    return blended(cranium, below, 14);
  }

  at(x: number, y: number, z: number): Material {
    const cerebrum = withFlatBase(this.cerebrum.distance(x, y, z), y, z);
    const cerebellum = this.cerebellum.distance(x, y, z);
    const canal = this.canal.distance(x, y, z);
    const cavity = blended(cerebrum, cerebellum, 16) - this.fluidGap;
    if (cavity > 0 && canal > 0) {
      return this.inSkullOrSkin(x, y, z, this.bone - Math.min(cavity, canal - 2));
    }
    if (anyContains(this.ventricles, x, y, z)) return Material.fluid;
    if (z < 0 && this.stem.contains(x, y, z)) return Material.stem;
    if (z < -60 && canal < -5.5) return Material.stem; // spinal cord
    const bump = this.bumps.at(x, y, z);
    if (cerebrum + 2 * bump < 0) return this.inCerebrum(x, y, z, -cerebrum - 2 * bump);
    if (cerebellum + bump < 0) return this.inCerebellum(x, y, z, -cerebellum - bump);
    return Material.fluid;
  }

  /** How much of the tissue is gone: 0 outside the lesion, 1 in its core. */
  lesionShare(x: number, y: number, z: number): number {
    const distance = this.lesion.distance(x, y, z) + 5 * this.smallGyri.at(x, y, z);
    return smoothStep(-2, 2, -distance);
  }

  private inSkullOrSkin(x: number, y: number, z: number, depthOfBone: number): Material {
    if (anyContains(this.eyes, x, y, z)) return Material.vitreous;
    if (depthOfBone > 0) {
      // bone, marrow, bone
      const middle = Math.abs(depthOfBone - this.bone / 2) < this.bone / 6;
      return middle ? Material.marrow : Material.bone;
    }
    const toSkin = -this.outline(x, y, z);
    if (toSkin < 0 || anyContains(this.sinuses, x, y, z)) return Material.air;
    const underSkin = toSkin + 1.5 * this.bumps.at(2 * x, 2 * y, 2 * z);
    if (underSkin < 1.2) return Material.muscle; // the skin itself
    const fat = underSkin < 5 || this.folia.at(0.4 * x, 0.4 * y, 0.4 * z) > 0.45;
    return fat ? Material.fat : Material.muscle;
  }

  private inCerebrum(x: number, y: number, z: number, depth: number): Material {
    if (anyContains(this.deepGrey, x, y, z)) return Material.grey;
    // The fissure between the halves ends at the corpus callosum.
    const callosum = 31 - (y * y) / 130;
    const half = Math.abs(x + 1.5 * this.bumps.at(x, y, z));
    let fold = Math.sqrt(half * half + smoothStep(0, 1, callosum - z) * 900) - 1.1 * this.sulcus;
    for (const fissure of this.fissures) fold = Math.min(fold, fissure.distance(x, y, z));
    if (fold < 0) return Material.fluid;
    if (fold < this.cortex) return Material.grey;
    return this.inMantle(x, y, z, depth);
  }

  /** Sulci are sheets that go straight down from the surface: the folds depend on the place of the
   * surface above, and hardly on the depth. */
  private inMantle(x: number, y: number, z: number, depth: number): Material {
    const deepest = 24;
    if (depth > deepest) return Material.white;
    const { centre, semi } = this.cerebrum;
    const qx = x - centre[0];
    const qy = y - centre[1];
    const qz = z - centre[2];
    const radius = Math.sqrt((qx / semi[0]) ** 2 + (qy / semi[1]) ** 2 + (qz / semi[2]) ** 2);
    const scale = 1 / Math.max(radius, 0.2) + 0.12;
    const wide = Math.abs(this.gyri.at(qx * scale, qy * scale, qz * scale)) * 15;
    const narrow = Math.abs(this.smallGyri.at(qx * scale, qy * scale, qz * scale)) * 9 + 1;
    const bottom = 14 + 6 * this.bumps.at(1.3 * x, 1.3 * y, 1.3 * z);
    const toSulcus = Math.min(
      Math.hypot(wide, Math.max(0, depth - bottom)),
      Math.hypot(narrow, Math.max(0, depth - 7)),
    );
    if (toSulcus > this.sulcus + this.cortex && depth > this.cortex) return Material.white;
    return toSulcus < this.sulcus ? Material.fluid : Material.grey;
  }

  private inCerebellum(x: number, y: number, z: number, depth: number): Material {
    if (depth > 9) return Material.white;
    // Leaves lie one above the other.
    const leaf = this.folia.at(0.35 * x, 0.5 * y, 1.6 * z);
    if (leaf > 0.55) return Material.fluid;
    return leaf < -0.45 ? Material.white : Material.grey;
  }
}
