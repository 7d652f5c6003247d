// SPDX-License-Identifier: Apache-2.0
// The engine itself: planes of the volume go in, planes of labels come out, and in between all
// layers advance together. Knows nothing of where kernels and threads come from.
import type { Engine, Progress, RunOptions, Volume } from '../engine';
import type { Shape3 } from '../../model';
import { MIB, WASM_LIMIT, within } from '../memory';
import { voxelsOf } from '../shape';
import { threadWords } from '../../../../shared/engines/threads';
import { Crew } from './crew';
import { type Layout, type Ring, planLayout, writeLayers } from './layout';
import type { PlanesLayer } from './network';
import { activeLayers, stepsOf } from './step';

const THREADS_BYTES = 40 * MIB; // measured: the threads' own memory and the compiled kernels

const PAGE = 65536;
const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(2)} GB`;

type TakePlane = (z: number, layout: Layout, buffer: ArrayBufferLike) => void;

export class PlanesEngine implements Engine {
  readonly id = 'planes-wasm';
  readonly title: string;
  private memory: WebAssembly.Memory | undefined;
  private turn: Promise<unknown> = Promise.resolve(); // one run at a time

  constructor(
    private readonly layers: PlanesLayer[],
    private readonly module: WebAssembly.Module, // for shared memory where the crew has helpers
    private readonly crew: Crew,
  ) {
    this.title = `rolling planes on WebAssembly, ${threadWords(crew.threads)}`;
  }

  async logits(volume: Volume): Promise<Float32Array> {
    const classes = this.layers[this.layers.length - 1].outputs;
    const logits = new Float32Array(classes * voxelsOf(volume.shape)); // (classes, D, H, W)
    const [depth, height, width] = volume.shape;
    await this.run(volume, (z, { rings }, buffer) => {
      const ring = rings[rings.length - 1];
      for (let c = 0; c < classes; ++c) {
        for (let y = 0; y < height; ++y) {
          const row = rowOf(buffer, ring, 0, c, y, width);
          logits.set(row, ((c * depth + z) * height + y) * width);
        }
      }
    });
    return logits;
  }

  async labels(volume: Volume, options: RunOptions = {}): Promise<Uint8Array> {
    const labels = new Uint8Array(voxelsOf(volume.shape)); // (D, H, W)
    const [, height, width] = volume.shape;
    const take: TakePlane = (z, layout, buffer) => {
      for (let y = 0; y < height; ++y) {
        const row = new Uint8Array(buffer, layout.labels + y * layout.labelRowBytes, width);
        labels.set(row, (z * height + y) * width);
      }
    };
    await this.run(volume, take, options.onProgress);
    return labels;
  }

  peakBytes(shape: Shape3): number {
    const { bytes } = planLayout(this.layers, shape, this.crew.threads);
    return within(bytes, WASM_LIMIT) + voxelsOf(shape) + THREADS_BYTES;
  }

  async dispose(): Promise<void> {
    this.crew.dispose();
    this.memory = undefined;
  }

  private run(volume: Volume, take: TakePlane, onProgress?: (progress: Progress) => void) {
    const done = this.turn.then(() => this.runNow(volume, take, onProgress));
    this.turn = done.catch(() => {});
    return done;
  }

  private async runNow(volume: Volume, take: TakePlane, onProgress = (_: Progress) => {}) {
    checkVolume(volume);
    const layout = planLayout(this.layers, volume.shape, this.crew.threads);
    const memory = this.emptyMemory(layout);
    writeLayers(this.layers, layout, memory.buffer);
    try {
      await this.crew.begin(this.module, memory, layout);
      this.roll(volume, layout, memory.buffer, take, onProgress);
    } finally {
      await this.crew.end();
    }
  }

  private roll(
    volume: Volume,
    layout: Layout,
    buffer: ArrayBufferLike,
    take: TakePlane,
    onProgress: (progress: Progress) => void,
  ): void {
    const depth = volume.shape[0];
    const lag = layout.lags[layout.lags.length - 1];
    let computed = 0; // planes of all layers
    for (let step = 0; step < stepsOf(layout); ++step) {
      if (step < depth) putPlane(volume, step, layout.rings[0], buffer);
      this.crew.step(step);
      if (step >= lag) take(step - lag, layout, buffer);
      computed += activeLayers(layout, step).length;
      onProgress({ done: Math.floor(computed / layout.lags.length), total: depth, what: 'plane' });
    }
  }

  /** Memory of at least this size, all zero: that of the last run where it suffices. */
  private emptyMemory({ bytes, shape }: Layout): WebAssembly.Memory {
    if (this.memory && this.memory.buffer.byteLength >= bytes) {
      new Uint8Array(this.memory.buffer, 0, bytes).fill(0);
      return this.memory;
    }
    this.memory = undefined; // may go before the larger one comes
    const pages = bytes / PAGE;
    try {
      const shared = this.crew.threads > 1;
      return (this.memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared }));
    } catch (error) {
      throw new Error(
        `Out of memory: ${shape.join('x')} voxels need ${gigabytes(bytes)} of WebAssembly ` +
          `memory, and the browser gave none (${error instanceof Error ? error.message : error}).`,
      );
    }
  }
}

function checkVolume({ shape, values }: Volume): void {
  if (shape.every((n) => Number.isInteger(n) && n > 0) && values.length === voxelsOf(shape)) return;
  throw new Error(`A volume of ${shape.join('x')} voxels cannot have ${values.length} values.`);
}

function rowOf(
  buffer: ArrayBufferLike,
  ring: Ring,
  slot: number,
  channel: number,
  y: number,
  width: number,
): Float32Array {
  const plane = ring.base + slot * ring.planeBytes;
  return new Float32Array(buffer, plane + channel * ring.channelBytes + y * ring.rowBytes, width);
}

function putPlane({ shape, values }: Volume, z: number, ring: Ring, buffer: ArrayBufferLike): void {
  const [, height, width] = shape;
  for (let y = 0; y < height; ++y) {
    const from = (z * height + y) * width;
    const row = rowOf(buffer, ring, z % ring.slots, 0, y, width);
    row.set(values.subarray(from, from + width));
  }
}
