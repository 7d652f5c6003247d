// SPDX-License-Identifier: Apache-2.0
// Numbers in words that people read.

export function bytesText(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`;
  return `${Math.max(1, Math.round(bytes / 1e6))} MB`;
}

export function secondsText(seconds: number): string {
  if (seconds < 0.1) return `${Math.max(1, Math.round(seconds * 1000))} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 100) return `${Math.round(seconds)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

export function countText(count: number): string {
  return count.toLocaleString('en');
}

export function shapeText(shape: readonly number[]): string {
  return shape.join(' × ');
}
