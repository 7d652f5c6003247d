// SPDX-License-Identifier: Apache-2.0
// How much memory there seems to be, and how much a network's activations take of it. The figures
// of single engines live with them.
import type { Manifest, Shape3 } from '../model';
import { voxelsOf } from './shape';

export const MIB = 2 ** 20;
export const GIB = 2 ** 30;
export const WASM_LIMIT = 4 * GIB; // what 32-bit addresses reach

/** Bytes that a run may take: half of what the machine tells to have, which leaves the browser
 * and the page their part, and never more than a WebAssembly engine could use. */
export function defaultMemoryLimit(): number {
  const told = (globalThis.navigator as { deviceMemory?: number } | undefined)?.deviceMemory;
  return Math.min((told ?? 4) * GIB * 0.5, WASM_LIMIT - GIB / 2);
}

/** Channels held at once by the hungriest layer: what goes in and what comes out, the latter
 * twice where a runtime adds the bias in a step of its own. */
export function widestStep(manifest: Manifest, copies: 1 | 2): number {
  let before = manifest.in_channels;
  let widest = 0;
  for (const { channels } of manifest.layers) {
    widest = Math.max(widest, before + copies * channels);
    before = channels;
  }
  return widest;
}

export function widestLayer(manifest: Manifest): number {
  return Math.max(manifest.in_channels, ...manifest.layers.map((layer) => layer.channels));
}

/** Bytes of `channels` volumes of 32-bit values. */
export function floats(shape: Shape3, channels: number): number {
  return voxelsOf(shape) * channels * 4;
}

/** The same, or more than any memory where the engine's address space ends before. */
export function within(bytes: number, limit: number): number {
  return bytes <= limit ? bytes : Infinity;
}
