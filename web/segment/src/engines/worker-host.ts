// SPDX-License-Identifier: Apache-2.0
// The page's side of one worker with one engine in it.
import { WorkerLine } from '../../../shared/engines/worker-line';
import type { EngineId, LoadedModel, Progress, Volume } from './engine';
import type { EngineHost, Layout, Loaded, Request } from './host';
import type { Shape3 } from '../model';

export class WorkerHost implements EngineHost {
  private readonly line = new WorkerLine<Request, Progress>(
    new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' }),
  );

  constructor(private readonly id: EngineId) {}

  load(model: LoadedModel): Promise<Loaded | string> {
    return this.line.ask({ kind: 'load', id: this.id, model });
  }

  trial(shape: Shape3): Promise<number> {
    return this.line.ask({ kind: 'trial', shape });
  }

  layout(shape: Shape3, memoryLimit: number): Promise<Layout | null> {
    return this.line.ask({ kind: 'layout', shape, memoryLimit });
  }

  segment(
    volume: Volume,
    memoryLimit: number,
    onProgress: (progress: Progress) => void,
  ): Promise<Uint8Array> {
    const copy = { shape: volume.shape, values: volume.values.slice() }; // the page keeps its own
    const request: Request = { kind: 'segment', volume: copy, memoryLimit };
    return this.line.ask(request, [copy.values.buffer], onProgress);
  }

  end(reason: Error): void {
    this.line.end(reason);
  }
}
