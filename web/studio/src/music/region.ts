// SPDX-License-Identifier: Apache-2.0
// A stretch of time marked on a waveform: how dragging and keys change it. Knows nothing of pixels.

export interface Region {
  from: number; // seconds
  to: number;
}

export type Edge = 'from' | 'to';

export interface Limits {
  first: number; // where the axis begins; below 0 when there is room before the clip
  last: number;
  shortest: number; // of a region
}

const clamp = (value: number, low: number, high: number) => Math.min(Math.max(value, low), high);

/** Begins a region where somebody pressed; it has no length yet. */
export function beginRegion(at: number, { first, last }: Limits): Region {
  const from = clamp(at, first, last);
  return { from, to: from };
}

/** While somebody drags from `anchor` to `at`, in either direction. */
export function dragRegion(anchor: number, at: number, { first, last }: Limits): Region {
  const a = clamp(anchor, first, last);
  const b = clamp(at, first, last);
  return { from: Math.min(a, b), to: Math.max(a, b) };
}

/** A click is no region; a short one grows to what the model can use. */
export function settleRegion(region: Region, limits: Limits): Region | undefined {
  const { first, last, shortest } = limits;
  const length = region.to - region.from;
  if (length < shortest / 4) return undefined;
  if (length >= shortest) return region;
  const middle = (region.from + region.to) / 2;
  const from = clamp(middle - shortest / 2, first, Math.max(first, last - shortest));
  return { from: round(from), to: round(Math.min(last, from + shortest)) };
}

/** One edge moves; it stops at the limits and before the other one. */
export function moveEdge(region: Region, edge: Edge, to: number, limits: Limits): Region {
  const { first, last, shortest } = limits;
  if (edge === 'from')
    return { ...region, from: clamp(to, first, Math.max(first, region.to - shortest)) };
  return { ...region, to: clamp(to, Math.min(last, region.from + shortest), last) };
}

/** What a key does to an edge; undefined if it means nothing here. */
export function keyedEdge(
  key: string,
  isLarge: boolean,
  at: number,
  limits: Limits,
): number | undefined {
  const step = isLarge ? 5 : 0.5;
  if (key === 'ArrowLeft' || key === 'ArrowDown') return at - step;
  if (key === 'ArrowRight' || key === 'ArrowUp') return at + step;
  if (key === 'PageDown') return at - 5;
  if (key === 'PageUp') return at + 5;
  if (key === 'Home') return limits.first;
  if (key === 'End') return limits.last;
  return undefined;
}

/** What an extension adds before and after a clip: at most its own length on each side. */
export function extensionLimits(seconds: number): Limits {
  return { first: -seconds, last: 2 * seconds, shortest: seconds };
}

/** The edges of an extension stay outside of the clip. */
export function moveExtension(region: Region, edge: Edge, to: number, seconds: number): Region {
  if (edge === 'from') return { ...region, from: clamp(to, -seconds, 0) };
  return { ...region, to: clamp(to, seconds, 2 * seconds) };
}

export const extensionOf = (region: Region, seconds: number) => ({
  left: round(Math.max(0, -region.from)),
  right: round(Math.max(0, region.to - seconds)),
});

export const round = (seconds: number) => Math.round(seconds * 100) / 100;
