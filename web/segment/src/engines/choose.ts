// SPDX-License-Identifier: Apache-2.0
// Which engine runs: each that the browser has is checked against ubique's own numbers, those that
// agree are timed on a small block, and the one that should be done first with the volume asked
// about wins. Trying must not cost more than it can gain. Knows engines only as hosts.
import type { Choice, ChooseOptions, Verdict } from './choice';
import type { EngineId, LoadedModel } from './engine';
import { Cancelled, messageOf } from '../../../shared/engines/faults';
import { Stopped, limited } from '../../../shared/engines/patience';
import type { EngineHost, Layout, Loaded } from './host';
import { defaultMemoryLimit } from './memory';
import { voxelsOf } from './shape';
import type { Shape3 } from '../model';

/** In the order tried: what is likely to be fast first, so that the slow can be cut short. */
const ORDER: EngineId[] = [
  'planes-wasm',
  'ort-webgpu',
  'ort-wasm',
  'tfjs-webgpu',
  'tfjs-webgl',
  'tfjs-wasm',
];
const LAST_RESORT: EngineId = 'tfjs-cpu'; // tried only if nothing else agrees, or if asked for

const BLOCK = 32; // voxels along each axis of the trial
const LARGER_BLOCK = 64; // a second trial, for those so quick that the first tells little
const QUICK = 0.05; // seconds
const SLOWER = 4; // times the best trial so far: not worth waiting for
const PATIENCE = { least: 1.5, most: 20 }; // seconds for loading and checking a further candidate

/** An engine that agrees. */
interface Candidate {
  id: EngineId;
  host: EngineHost;
  loaded: Loaded;
  seconds: number; // of the trial block
  expectedSeconds: number;
  layout: Layout;
}

/** An engine that may run, now or when those before it fail. */
export interface Ranked {
  id: EngineId;
  expectedSeconds: number;
}

export interface Ranking {
  choice: Choice;
  ranked: Ranked[]; // the best first
  best: { id: EngineId; host: EngineHost; loaded: Loaded }; // the only one whose worker lives
  memoryLimit: number;
}

export async function chooseEngine(
  model: LoadedModel,
  shape: Shape3,
  options: ChooseOptions,
  open: (id: EngineId) => EngineHost,
): Promise<Ranking> {
  const memoryLimit = options.memoryLimit ?? defaultMemoryLimit();
  const verdicts: Verdict[] = [];
  const agreeing: Candidate[] = [];
  const spare: EngineId[] = [];
  const attempt = async (id: EngineId) => {
    const best = agreeing[0] ?? null;
    const tried = await tryEngine(id, open(id), best, { model, shape, memoryLimit });
    verdicts.push(tried.verdict);
    if (tried.candidate) agreeing.push(tried.candidate);
    if (tried.stopped) spare.push(id);
    agreeing.sort((a, b) => a.expectedSeconds - b.expectedSeconds);
    for (const loser of agreeing.slice(1)) loser.host.end(new Error('Another engine is faster.'));
  };
  for (const id of options.only ?? ORDER) await attempt(id);
  if (!options.only) {
    if (agreeing.length === 0) await attempt(LAST_RESORT);
    else spare.push(LAST_RESORT);
  }
  if (agreeing.length === 0) throw new Error(noneWords(verdicts));
  const best = agreeing[0];
  const slow = spare.map((id) => ({ id, expectedSeconds: SLOWER * best.expectedSeconds }));
  return {
    choice: choiceOf(verdicts, agreeing),
    ranked: [...agreeing, ...slow],
    best,
    memoryLimit,
  };
}

interface Task {
  model: LoadedModel;
  shape: Shape3;
  memoryLimit: number;
}

async function tryEngine(
  id: EngineId,
  host: EngineHost,
  best: Candidate | null,
  task: Task,
): Promise<{ verdict: Verdict; candidate?: Candidate; stopped?: boolean }> {
  try {
    const loaded = await limited(host, host.load(task.model), patience(best), 'not ready');
    if (typeof loaded === 'string') throw new Error(loaded);
    const { title, judgement } = loaded;
    if (!judgement.agrees) {
      host.end(new Error('It disagrees with ubique.'));
      return { verdict: { id, state: 'wrong', title, difference: judgement.difference } };
    }
    const candidate = await timed(id, host, loaded, best, task);
    const { difference } = judgement;
    return {
      verdict: { id, state: 'ready', title, difference, seconds: candidate.seconds },
      candidate,
    };
  } catch (error) {
    if (error instanceof Cancelled) throw error;
    host.end(new Error('It was given up.'));
    const verdict: Verdict = { id, state: 'unavailable', reason: messageOf(error) };
    return { verdict, stopped: error instanceof Stopped };
  }
}

async function timed(
  id: EngineId,
  host: EngineHost,
  loaded: Loaded,
  best: Candidate | null,
  { shape, memoryLimit }: Task,
): Promise<Candidate> {
  const layout = await host.layout(shape, memoryLimit);
  if (layout === null) throw new Error(tooLittleMemory(memoryLimit));
  const block = within(shape, BLOCK);
  const allowed = best ? 2 * SLOWER * best.seconds + 0.3 : PATIENCE.most; // it runs twice
  const slow = best ? `slower than ${best.id}` : 'too slow';
  const seconds = await limited(host, host.trial(block), allowed, slow);
  let expectedSeconds = (seconds / voxelsOf(block)) * layout.computedVoxels;
  const larger = within(shape, LARGER_BLOCK);
  if (seconds < QUICK && voxelsOf(larger) > voxelsOf(block)) {
    const second = await host.trial(larger);
    const rate = Math.max(second - seconds, 0) / (voxelsOf(larger) - voxelsOf(block));
    expectedSeconds = second + rate * Math.max(0, layout.computedVoxels - voxelsOf(larger));
  }
  return { id, host, loaded, seconds, expectedSeconds, layout };
}

function within(shape: Shape3, most: number): Shape3 {
  return [Math.min(shape[0], most), Math.min(shape[1], most), Math.min(shape[2], most)];
}

function patience(best: Candidate | null): number {
  if (best === null) return PATIENCE.most;
  return Math.min(PATIENCE.most, Math.max(PATIENCE.least, best.expectedSeconds));
}

function choiceOf(verdicts: Verdict[], agreeing: Candidate[]): Choice {
  const best = agreeing[0];
  const time = `${best.seconds.toPrecision(2)} s for a trial block`;
  const why =
    agreeing.length === 1
      ? `the only one that agrees with ubique: ${time}`
      : `fastest of ${agreeing.length} that agree with ubique: ${time}`;
  return {
    verdicts,
    chosen: best.id,
    why,
    expectedSeconds: best.expectedSeconds,
    peakBytes: best.layout.peakBytes,
    tiles: best.layout.tiles,
  };
}

function tooLittleMemory(limit: number): string {
  const mebibytes = Math.round(limit / 2 ** 20);
  return `even the smallest part of this volume needs more than the ${mebibytes} MiB allowed`;
}

function noneWords(verdicts: Verdict[]): string {
  const reasons = verdicts.map((verdict) =>
    verdict.state === 'unavailable'
      ? `${verdict.id}: ${verdict.reason}`
      : `${verdict.id}: gives other numbers than ubique`,
  );
  return `No engine of this browser can run the model. ${reasons.join('; ')}.`;
}
