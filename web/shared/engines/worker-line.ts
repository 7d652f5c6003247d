// SPDX-License-Identifier: Apache-2.0
// One worker that is asked one thing at a time: the page's end of the line, and the worker's. What
// is asked and answered is theirs. Ending a line ends whatever its worker does.
import { EngineFailure, failureOf } from './faults';

export type Reply<Progress> =
  | { kind: 'progress'; progress: Progress }
  | { kind: 'done'; value: unknown }
  | { kind: 'failed'; reason: string; memory: boolean };

interface Pending<Progress> {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
  onProgress?: (progress: Progress) => void;
}

export class WorkerLine<Request, Progress = never> {
  private pending: Pending<Progress> | null = null;
  private ended: Error | null = null;

  constructor(private readonly worker: Worker) {
    worker.onmessage = (event: MessageEvent<Reply<Progress>>) => this.receive(event.data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.end(new EngineFailure(event.message || 'its worker could not be started', false));
    };
  }

  ask<T>(
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

  end(reason: Error): void {
    if (this.ended) return;
    this.ended = reason;
    this.worker.terminate();
    this.pending?.reject(reason);
    this.pending = null;
  }

  private receive(reply: Reply<Progress>): void {
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

/** In the worker: answers whatever comes. Buffers of what is answered are handed over. */
export function answerRequests<Request, Progress = never>(
  answer: (request: Request, tell: (progress: Progress) => void) => unknown,
  buffersOf: (value: unknown) => Transferable[],
): void {
  const reply = (message: Reply<Progress>, transfer: Transferable[] = []) =>
    self.postMessage(message, { transfer });
  self.onmessage = async (event: MessageEvent<Request>) => {
    try {
      const value = await answer(event.data, (progress) => reply({ kind: 'progress', progress }));
      reply({ kind: 'done', value }, buffersOf(value));
    } catch (error) {
      const failure = failureOf(error);
      reply({ kind: 'failed', reason: failure.message, memory: failure.memory });
    }
  };
}
