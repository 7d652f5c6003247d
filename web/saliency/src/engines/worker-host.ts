// SPDX-License-Identifier: Apache-2.0
// The page's side of one worker with one engine in it.
import { WorkerLine } from '../../../shared/engines/worker-line';
import type { Pixels } from '../images/raster';
import type { LoadedModel, Size } from '../model';
import type { EngineHost, EngineId, Loaded, Look, Request } from './engine';

export class WorkerHost implements EngineHost {
  private readonly line = new WorkerLine<Request>(
    new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' }),
  );

  constructor(private readonly id: EngineId) {}

  load(model: LoadedModel): Promise<Loaded | string> {
    return this.line.ask({ kind: 'load', id: this.id, model });
  }

  trial(size: Size): Promise<number> {
    return this.line.ask({ kind: 'trial', size });
  }

  look({ width, height, data }: Pixels, size: Size): Promise<Look> {
    const copy = data.slice(); // the page keeps its own
    const request: Request = { kind: 'look', pixels: { width, height, data: copy }, size };
    return this.line.ask(request, [copy.buffer]);
  }

  end(reason: Error): void {
    this.line.end(reason);
  }
}
