// SPDX-License-Identifier: Apache-2.0
// An engine's worker played by a few numbers, for tests of who is chosen and who takes over.
import type { Progress } from '../../segment/src/engines/engine';
import type { EngineHost, Layout, Loaded } from '../../segment/src/engines/host';
import { voxelsOf } from '../../segment/src/engines/shape';
import type { Shape3 } from '../../segment/src/model';

export interface Part {
  unavailable?: string;
  difference?: number;
  agrees?: boolean;
  loading?: number; // seconds
  rate?: number; // seconds per million voxels
  silent?: boolean;
  layout?: Layout | null;
  failure?: Error; // what segment() rejects with
  busy?: boolean; // segment() never ends by itself
  progress?: Progress[];
}

export class FakeHost implements EngineHost {
  ended: Error | null = null;
  limits: number[] = []; // memory allowed to segment(), as asked
  private reject: (error: Error) => void = () => undefined;

  constructor(private readonly part: Part) {}

  async load(): Promise<Loaded | string> {
    await this.pause(this.part.loading ?? 0);
    if (this.part.unavailable) return this.part.unavailable;
    const { agrees = true, difference = 1e-7, silent = false } = this.part;
    return {
      title: 'a fake',
      silent,
      judgement: { agrees, difference, agreement: agrees ? 1 : 0 },
    };
  }

  async trial(shape: Shape3): Promise<number> {
    const seconds = ((this.part.rate ?? 1) * voxelsOf(shape)) / 1e6;
    await this.pause(2 * seconds);
    return seconds;
  }

  async layout(shape: Shape3): Promise<Layout | null> {
    if (this.part.layout !== undefined) return this.part.layout;
    return { tiles: 1, computedVoxels: voxelsOf(shape), peakBytes: 1000 };
  }

  async segment(
    volume: { shape: Shape3 },
    memoryLimit: number,
    onProgress: (progress: Progress) => void,
  ): Promise<Uint8Array> {
    this.limits.push(memoryLimit);
    for (const step of this.part.progress ?? []) onProgress(step);
    if (this.part.busy) await this.pause(Infinity);
    if (this.part.failure) throw this.part.failure;
    return new Uint8Array(voxelsOf(volume.shape)).fill(1);
  }

  end(reason: Error): void {
    this.ended ??= reason;
    this.reject(reason);
  }

  private pause(seconds: number): Promise<void> {
    if (this.ended) return Promise.reject(this.ended);
    return new Promise((resolve, reject) => {
      this.reject = reject;
      if (Number.isFinite(seconds)) setTimeout(resolve, seconds * 1000);
    });
  }
}
