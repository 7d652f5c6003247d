// SPDX-License-Identifier: Apache-2.0
// How many threads a WebAssembly engine may have: more than one needs shared memory, which
// browsers give only to pages that are isolated from other origins.

const MOST = 8; // beyond it memory, not arithmetic, is what these small networks wait for

export function threads(): number {
  if (!globalThis.crossOriginIsolated) return 1;
  return Math.max(1, Math.min(MOST, navigator.hardwareConcurrency || 1));
}

/** 'one thread', '2 threads' */
export function threadWords(count: number): string {
  return count === 1 ? 'one thread' : `${count} threads`;
}
