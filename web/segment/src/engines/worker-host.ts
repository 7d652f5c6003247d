// SPDX-License-Identifier: Apache-2.0
// The page's side of one worker with one engine in it.
import type { EngineId, LoadedModel, Progress, Volume } from './engine';
import { type EngineHost, type Layout, type Loaded, type Reply, type Request } from './host';
import { EngineFailure } from './host';
import type { Shape3 } from '../model';

interface Pending {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
  onProgress?: (progress: Progress) => void;
}

export class WorkerHost implements EngineHost {
  private readonly worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  private pending: Pending | null = null; // one request at a time
  private ended: Error | null = null;

  constructor(private readonly id: EngineId) {
    this.worker.onmessage = (event: MessageEvent<Reply>) => this.receive(event.data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.end(new EngineFailure(event.message || 'its worker could not be started', false));
    };
  }

  load(model: LoadedModel): Promise<Loaded | string> {
    return this.ask({ kind: 'load', id: this.id, model });
  }

  trial(shape: Shape3): Promise<number> {
    return this.ask({ kind: 'trial', shape });
  }

  layout(shape: Shape3, memoryLimit: number): Promise<Layout | null> {
    return this.ask({ kind: 'layout', shape, memoryLimit });
  }

  segment(
    volume: Volume,
    memoryLimit: number,
    onProgress: (progress: Progress) => void,
  ): Promise<Uint8Array> {
    const copy = { shape: volume.shape, values: volume.values.slice() }; // the page keeps its own
    const request: Request = { kind: 'segment', volume: copy, memoryLimit };
    return this.ask(request, [copy.values.buffer], onProgress);
  }

  end(reason: Error): void {
    if (this.ended) return;
    this.ended = reason;
    this.worker.terminate();
    this.pending?.reject(reason);
    this.pending = null;
  }

  private ask<T>(
    request: Request,
    transfer: Transferable[] = [],
    onProgress?: (progress: Progress) => void,
  ): Promise<T> {
    if (this.ended) return Promise.reject(this.ended);
    return new Promise<T>((resolve, reject) => {
      this.pending = { resolve: resolve as (value: unknown) => void, reject, onProgress };
      this.worker.postMessage(request, transfer);
    });
  }

  private receive(reply: Reply): void {
    const pending = this.pending;
    if (!pending) return;
    if (reply.kind === 'progress') {
      pending.onProgress?.(reply.progress);
      return;
    }
    this.pending = null;
    if (reply.kind === 'done') pending.resolve(reply.value);
    else pending.reject(new EngineFailure(reply.reason, reply.memory));
  }
}
