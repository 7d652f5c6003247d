// SPDX-License-Identifier: Apache-2.0
// The page's runner: keeps the chosen engine's worker warm, hands over to the next engine when one
// fails, and ends everything on cancel. Knows no runtime.
import type { Choice, ChooseOptions, Runner, Segmented } from './choice';
import { type Ranked, type Ranking, chooseEngine } from './choose';
import type { EngineId, LoadedModel, Progress, Volume } from './engine';
import { Cancelled, failureOf } from '../../../shared/engines/faults';
import type { EngineHost, Loaded } from './host';
import { ProgressMeter } from './progress';
import type { Shape3 } from '../model';

interface Warm {
  id: EngineId;
  host: EngineHost;
  loaded: Loaded;
}

type OnFallback = (from: EngineId, to: EngineId, reason: string) => void;

export class EngineRunner implements Runner {
  private readonly hosts = new Set<EngineHost>();
  private model: LoadedModel | null = null;
  private ranking: Ranking | null = null;
  private warm: Warm | null = null;

  constructor(private readonly makeHost: (id: EngineId) => EngineHost) {}

  async choose(model: LoadedModel, shape: Shape3, options: ChooseOptions = {}): Promise<Choice> {
    this.cancel(); // whatever was asked before
    this.ranking = null;
    this.model = model;
    const ranking = await chooseEngine(model, shape, options, (id) => this.open(id));
    this.ranking = ranking;
    this.warm = ranking.best;
    return ranking.choice;
  }

  async segment(
    volume: Volume,
    onProgress: (progress: Progress) => void,
    onFallback?: OnFallback,
  ): Promise<Segmented> {
    if (!this.ranking) throw new Error('No engine was chosen: call choose() first.');
    const { ranked } = this.ranking;
    let { memoryLimit } = this.ranking;
    const reasons: string[] = [];
    for (const [index, next] of ranked.entries()) {
      const { id } = next;
      try {
        return await this.runOn(next, volume, memoryLimit, onProgress);
      } catch (error) {
        if (error instanceof Cancelled) throw error;
        const failure = failureOf(error);
        this.endAll(failure);
        reasons.push(`${id}: ${failure.message}`);
        if (failure.memory) memoryLimit /= 2;
        if (index + 1 < ranked.length) onFallback?.(id, ranked[index + 1].id, failure.message);
      }
    }
    throw new Error(`The scan could not be segmented. ${reasons.join('; ')}.`);
  }

  cancel(): void {
    this.endAll(new Cancelled());
  }

  private async runOn(
    { id, expectedSeconds }: Ranked,
    volume: Volume,
    memoryLimit: number,
    onProgress: (progress: Progress) => void,
  ): Promise<Segmented> {
    const { host, loaded } = await this.ready(id);
    const layout = await host.layout(volume.shape, memoryLimit);
    const start = performance.now();
    const meter = new ProgressMeter(loaded.silent ? expectedSeconds : null, onProgress);
    try {
      const labels = await host.segment(volume, memoryLimit, (progress) => meter.tell(progress));
      const seconds = (performance.now() - start) / 1000;
      return { labels, engine: id, seconds, tiles: layout?.tiles ?? 1 };
    } finally {
      meter.stop();
    }
  }

  /** The engine's worker, warm from before or started and checked anew. */
  private async ready(id: EngineId): Promise<Warm> {
    if (this.warm?.id === id) return this.warm;
    if (!this.model) throw new Error('No model was chosen: call choose() first.');
    const host = this.open(id);
    const loaded = await host.load(this.model);
    if (typeof loaded === 'string') throw new Error(loaded);
    if (!loaded.judgement.agrees) throw new Error('it gives other numbers than ubique');
    this.warm = { id, host, loaded };
    return this.warm;
  }

  private open(id: EngineId): EngineHost {
    const host = this.makeHost(id);
    this.hosts.add(host);
    return host;
  }

  private endAll(reason: Error): void {
    for (const host of this.hosts) host.end(reason);
    this.hosts.clear();
    this.warm = null;
  }
}
