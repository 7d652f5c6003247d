// SPDX-License-Identifier: Apache-2.0
// The queue as a page knows it: its order, and lists that are older than events.
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Job } from '../../../studio/src/api/types';
import { JobStore, compareJobs } from '../../../studio/src/state/job-store';
import { startJob } from '../../../studio/src/state/jobs';
import { durationText, jobText } from '../../../studio/src/state/words';

export function job(id: string, change: Partial<Job> = {}): Job {
  return {
    id,
    verb: 'run',
    family: 'trm',
    title: id,
    request: { verb: 'run' },
    state: 'queued',
    position: 1,
    priority: 0,
    progress: null,
    error: null,
    result: null,
    attempts: 0,
    created: '2026-01-01T00:00:00Z',
    started: null,
    ended: null,
    ...change,
  };
}

const progress = {
  stage: 'diffusion',
  step: 3,
  steps: 10,
  fraction: 0.3,
  eta_s: 40,
  memory_bytes: null,
};

describe('jobs', () => {
  test('stand in the order in which they will be done, then the last ended first', () => {
    const all = [
      job('old', { state: 'failed', ended: '2026-01-01T01:00:00Z' }),
      job('second', { position: 2 }),
      job('new', { state: 'succeeded', ended: '2026-01-01T02:00:00Z' }),
      job('first', { position: 1 }),
      job('now', { state: 'running', position: null }),
      job('held', { state: 'paused', position: null }),
    ];
    const order = all.sort(compareJobs).map(({ id }) => id);
    expect(order).toEqual(['now', 'first', 'second', 'held', 'new', 'old']);
  });

  test('are as an event said, if the answer that was on its way is older', async () => {
    const store = new JobStore();
    const got = await store.ask(async () => {
      store.put(job('1', { state: 'succeeded' }));
      return job('1');
    });
    expect(got.state).toBe('succeeded');
    expect(store.get('1')?.state).toBe('succeeded');
    expect((await store.ask(async () => job('2'))).state).toBe('queued');
    expect(store.get('2')?.state).toBe('queued');
  });

  test('are told in words', () => {
    expect(jobText(job('a', { position: 3 }))).toBe('Waiting, number 3');
    expect(jobText(job('a', { waiting: 'no memory for it now' }))).toBe(
      'Waiting: no memory for it now',
    );
    expect(jobText(job('a', { state: 'running', progress }))).toBe(
      'Diffusion 3 of 10, about 40 s left',
    );
    expect(jobText(job('a', { state: 'running', stopping: 'cancel' }))).toBe('Stopping');
    expect(durationText(7300)).toBe('2 h 2 min');
  });
});

describe('the store of jobs', () => {
  test('lets an event win over a list that was on its way', async () => {
    const store = new JobStore();
    let answer: (jobs: Job[]) => void = () => undefined;
    const refreshed = store.refresh(() => new Promise((resolve) => (answer = resolve)));
    store.put(job('a', { state: 'succeeded' }));
    store.put(job('b'));
    answer([job('a', { state: 'running' }), job('c')]);
    await refreshed;
    expect(store.get('a')?.state).toBe('succeeded');
    expect(
      store
        .list()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(['a', 'b', 'c']);
  });

  test('forgets what is no longer in the list', async () => {
    const store = new JobStore();
    store.put(job('gone'));
    await store.refresh(async () => [job('kept')]);
    expect(store.list().map(({ id }) => id)).toEqual(['kept']);
  });

  test('keeps what it knows when the list does not come', async () => {
    const store = new JobStore();
    store.put(job('a'));
    await expect(store.refresh(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
    await store.refresh(async () => [job('a'), job('b')]);
    expect(store.list()).toHaveLength(2);
  });

  test('takes no progress of a job that has ended', () => {
    const store = new JobStore();
    store.put(job('a', { state: 'running' }));
    store.progress('a', progress);
    expect(store.get('a')?.progress?.step).toBe(3);
    store.put(job('a', { state: 'cancelled', progress: null }));
    store.progress('a', progress);
    expect(store.get('a')?.progress).toBeNull();
    store.progress('unknown', progress);
    expect(store.get('unknown')).toBeUndefined();
  });
});

describe('a request for a job', () => {
  afterEach(() => vi.unstubAllGlobals());
  const request = { verb: 'run', family: 'trm' } as const;

  /** A server that answers as told, and remembers the keys that it saw. */
  function server(...answers: (() => Promise<Response>)[]): string[] {
    const keys: string[] = [];
    vi.stubGlobal('fetch', (_: string, init: RequestInit) => {
      keys.push(new Headers(init.headers).get('Idempotency-Key') ?? '');
      return answers.shift()?.();
    });
    return keys;
  }
  const made = async () => Response.json(job('1'));
  const lost = () => Promise.reject(new TypeError('network'));

  test('that is sent twice before an answer came is one job', async () => {
    const keys = server(made, made, made);
    await Promise.all([startJob(request), startJob(request)]);
    await startJob(request);
    expect(keys[0]).toHaveLength(32);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });

  test('whose answer was lost is the same job when it is sent again', async () => {
    const keys = server(lost, made, made);
    await expect(startJob(request)).rejects.toThrow('does not answer');
    await startJob(request);
    await startJob(request);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });

  test('that was refused is another one when it is sent again', async () => {
    const refused = async () => Response.json({ error: { kind: 'usage', message: 'no' } }, { status: 422 });
    const keys = server(refused, made);
    await expect(startJob(request)).rejects.toThrow('no');
    await startJob(request);
    expect(keys[1]).not.toBe(keys[0]);
  });
});
