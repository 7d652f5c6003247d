// SPDX-License-Identifier: Apache-2.0
// Which engine looks at pictures: each that the browser has is checked against ubique's own map and
// timed; the fastest that agrees stays, and hands over to the next when it fails. Knows no runtime.
import { Cancelled, failureOf, messageOf } from '../../../shared/engines/faults';
import { limited } from '../../../shared/engines/patience';
import type { Pixels } from '../images/raster';
import type { LoadedModel, Size } from '../model';
import { type EngineHost, type EngineId, type Loaded, type Look, engineIds } from './engine';

const PATIENCE = { asked: 600, first: 60, further: 15 }; // seconds until one is checked and timed

export type Verdict =
  | { id: EngineId; state: 'ready'; title: string; difference: number; seconds: number }
  | { id: EngineId; state: 'wrong'; title: string; difference: number } // disagrees with ubique
  | { id: EngineId; state: 'unavailable'; reason: string };

export type Ready = Verdict & { state: 'ready' };

export interface Choice {
  verdicts: Verdict[]; // in the order tried
  chosen: Ready; // its seconds are for a frame of trialSize
  trialSize: Size;
}

type OnFallback = (from: EngineId, to: EngineId, reason: string) => void;

export class LookRunner {
  private readonly hosts = new Map<EngineId, EngineHost>();
  private model: LoadedModel | null = null;
  private ranked: EngineId[] = []; // those that may run, the best first
  private last: Promise<unknown> = Promise.resolve(); // look

  constructor(private readonly makeHost: (id: EngineId) => EngineHost) {}

  async choose(model: LoadedModel, only?: EngineId): Promise<Choice> {
    this.cancel(); // whatever was asked before
    this.model = model;
    const [trialSize] = model.manifest.sizes;
    const verdicts: Verdict[] = [];
    for (const id of only ? [only] : engineIds) {
      const { asked, first, further } = PATIENCE;
      const seconds = only ? asked : verdicts.some(isReady) ? further : first;
      verdicts.push(await this.tried(id, trialSize, seconds));
    }
    const ready = verdicts.filter(isReady).sort((a, b) => a.seconds - b.seconds);
    if (ready.length === 0) throw new Error(noneWords(verdicts));
    this.ranked = ready.map(({ id }) => id);
    for (const id of this.ranked.slice(1)) this.end(id, new Error('Another engine is faster.'));
    return { verdicts, chosen: ready[0], trialSize };
  }

  /** With the best engine; one that fails (memory, lost device) hands over to the next. One at a
   * time: what is no longer wanted when its turn comes rejects with Cancelled. */
  look(
    pixels: Pixels,
    size: Size,
    isWanted: () => boolean,
    onFallback: OnFallback,
  ): Promise<Look> {
    const turn = this.last
      .catch(() => undefined) // whoever asked before was told
      .then(() => {
        if (!isWanted()) throw new Cancelled();
        return this.lookNow(pixels, size, onFallback);
      });
    this.last = turn;
    return turn;
  }

  cancel(): void {
    for (const id of [...this.hosts.keys()]) this.end(id, new Cancelled());
    this.ranked = [];
  }

  private async lookNow(pixels: Pixels, size: Size, onFallback: OnFallback): Promise<Look> {
    const reasons: string[] = [];
    for (const id of [...this.ranked]) {
      try {
        return await (await this.ready(id)).look(pixels, size);
      } catch (error) {
        if (error instanceof Cancelled) throw error;
        const failure = failureOf(error);
        this.end(id, failure);
        reasons.push(`${id}: ${failure.message}`);
        this.ranked = this.ranked.filter((each) => each !== id);
        if (this.ranked.length > 0) onFallback(id, this.ranked[0], failure.message);
      }
    }
    const why = reasons.length > 0 ? reasons.join('; ') : 'no engine is left';
    throw new Error(`The picture could not be looked at: ${why}. Choose the model again.`);
  }

  private async tried(id: EngineId, size: Size, seconds: number): Promise<Verdict> {
    const host = this.open(id);
    try {
      return await limited(host, this.timed(id, host, size), seconds, 'not ready');
    } catch (error) {
      if (error instanceof Cancelled) throw error;
      this.end(id, new Error('It was given up.'));
      return { id, state: 'unavailable', reason: messageOf(error) };
    }
  }

  private async timed(id: EngineId, host: EngineHost, size: Size): Promise<Verdict> {
    const loaded = await this.loaded(host);
    const { title, difference } = loaded;
    if (!loaded.agrees) {
      this.end(id, new Error('It disagrees with ubique.'));
      return { id, state: 'wrong', title, difference };
    }
    return { id, state: 'ready', title, difference, seconds: await host.trial(size) };
  }

  private async loaded(host: EngineHost): Promise<Loaded> {
    if (!this.model) throw new Error('No model was chosen: call choose() first.');
    const loaded = await host.load(this.model);
    if (typeof loaded === 'string') throw new Error(loaded);
    return loaded;
  }

  /** The engine's worker, warm from before or started and checked anew. */
  private async ready(id: EngineId): Promise<EngineHost> {
    const warm = this.hosts.get(id);
    if (warm) return warm;
    const host = this.open(id);
    if (!(await this.loaded(host)).agrees) throw new Error('it gives other maps than ubique');
    return host;
  }

  private open(id: EngineId): EngineHost {
    const host = this.makeHost(id);
    this.hosts.set(id, host);
    return host;
  }

  private end(id: EngineId, reason: Error): void {
    this.hosts.get(id)?.end(reason);
    this.hosts.delete(id);
  }
}

const isReady = (verdict: Verdict): verdict is Ready => verdict.state === 'ready';

function noneWords(verdicts: Verdict[]): string {
  const reasons = verdicts.map((verdict) =>
    verdict.state === 'unavailable'
      ? `${verdict.id}: ${verdict.reason}`
      : `${verdict.id}: gives other maps than ubique`,
  );
  return `No engine of this browser can run the model. ${reasons.join('; ')}.`;
}
