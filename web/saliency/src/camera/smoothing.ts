// SPDX-License-Identifier: Apache-2.0
// Maps of a moving picture: each keeps a part of those before it, so that they do not flicker.
import type { SaliencyMap } from '../images/raster';

export class Smoothing {
  private before: SaliencyMap | undefined;

  /** `kept`: the part of the maps before, 0 to 1. Maps of another size begin anew. */
  next(map: SaliencyMap, kept: number): SaliencyMap {
    const { before } = this;
    this.before = map;
    if (!before || before.width !== map.width || before.height !== map.height) return map;
    const values = map.values.map((value, i) => kept * before.values[i] + (1 - kept) * value);
    this.before = { ...map, values };
    return this.before;
  }
}
