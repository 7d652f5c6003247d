// SPDX-License-Identifier: Apache-2.0
// One step of a run: every layer that has a plane to compute does so, in pieces that threads take
// one by one. Any number of threads, each calling workStep, gives the same bits.
import { CONTROL_WORDS, type Layout } from './layout';

/** The words at the start of memory over which threads meet. */
export const CONTROL = { step: 0, next: 1, finished: 2, failed: 3 } as const;
export const ENDED = -1; // in place of a step's number

/** Computes strips `from` to `to` of plane `z`; 0 where logits were not numbers. */
type Strips = (layer: number, z: number, from: number, to: number, scratch: number) => number;

/** The compiled kernel on its memory, as one thread uses it. */
export interface Kernel {
  strips: Strips;
  layout: Layout;
  control: Int32Array;
  scratch: number;
}

export async function instantiate(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
  layout: Layout,
  thread: number,
): Promise<Kernel> {
  const { exports } = await WebAssembly.instantiate(module, { env: { memory } });
  const control = new Int32Array(memory.buffer, 0, CONTROL_WORDS);
  return { strips: exports.strips as Strips, layout, control, scratch: layout.scratch[thread] };
}

export function stepsOf({ shape, lags }: Layout): number {
  return shape[0] + lags[lags.length - 1];
}

/** The layers that compute in this step. */
export function activeLayers({ shape, lags }: Layout, step: number): number[] {
  return lags.flatMap((lag, i) => (step >= lag && step - lag < shape[0] ? [i] : []));
}

/** Strips of a plane: up to four rows, one dilation apart, as planes.as.ts computes them. */
function stripsOf(height: number, dilation: number): number {
  const group = 4 * dilation;
  return Math.floor(height / group) * dilation + Math.min(dilation, height % group);
}

interface Piece {
  layer: number;
  from: number;
  to: number;
}

/** The work of one plane of each of these layers, in pieces. */
function piecesOf(layout: Layout, layers: number[], perLayer: number): Piece[] {
  return layers.flatMap((layer) => {
    const strips = stripsOf(layout.shape[1], layout.dilations[layer]);
    const size = Math.ceil(strips / perLayer);
    return Array.from({ length: Math.ceil(strips / size) }, (_, i) => ({
      layer,
      from: i * size,
      to: Math.min(strips, (i + 1) * size),
    }));
  });
}

/** Takes pieces of this step until none are left. */
export function workStep({ strips, layout, control, scratch }: Kernel, step: number): void {
  const pieces = piecesOf(layout, activeLayers(layout, step), 2 * layout.scratch.length);
  for (;;) {
    const piece = pieces[Atomics.add(control, CONTROL.next, 1)];
    if (!piece) return;
    const { layer, from, to } = piece;
    if (!strips(layout.layers[layer], step - layout.lags[layer], from, to, scratch)) {
      throw new Error('The network gave values that are not numbers.');
    }
  }
}
