// SPDX-License-Identifier: Apache-2.0
// The jobs as this page knows them, from answers that it asked for and from events. An answer may be
// older than an event that came while it was on its way; then the event counts.
import type { Job, JobState, Progress } from '../api/types';

const active: readonly JobState[] = ['running', 'queued', 'paused'];
export const isActive = (job: Job) => active.includes(job.state);
export const isOver = (job: Job) => !isActive(job);

const time = (value: string | null) => (value === null ? 0 : Date.parse(value) || 0);

/** What runs, then what waits in its order, then what has ended, the newest first. */
export function compareJobs(a: Job, b: Job): number {
  const rank = (job: Job) => (job.state === 'running' ? 0 : isActive(job) ? 1 : 2);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (rank(a) === 2) return time(b.ended ?? b.created) - time(a.ended ?? a.created);
  const place = (job: Job) => job.position ?? Number.MAX_SAFE_INTEGER;
  return place(a) - place(b) || time(a.created) - time(b.created);
}

export class JobStore {
  private readonly jobs = new Map<string, Job>();
  private readonly asking = new Set<Set<string>>(); // whom events told of while an answer was on its way

  constructor(private readonly changed: (jobs: Job[]) => void = () => undefined) {}

  get(id: string): Job | undefined {
    return this.jobs.get(id);
  }

  list(): Job[] {
    return [...this.jobs.values()].sort(compareJobs);
  }

  put(job: Job): void {
    this.touch(job.id);
    this.jobs.set(job.id, job);
    this.changed(this.list());
  }

  progress(id: string, progress: Progress): void {
    const job = this.jobs.get(id);
    if (!job || isOver(job)) return; // late news of a job that has ended
    this.touch(id);
    this.jobs.set(id, { ...job, progress });
    this.changed(this.list());
  }

  remove(id: string): void {
    this.touch(id);
    if (this.jobs.delete(id)) this.changed(this.list());
  }

  /** Takes a list from the server in the place of what is known. */
  async refresh(ask: () => Promise<Job[]>): Promise<void> {
    await this.watching(async (newer) => {
      const listed = new Map((await ask()).map((job) => [job.id, job]));
      for (const id of [...this.jobs.keys()]) {
        if (!listed.has(id) && !newer.has(id)) this.jobs.delete(id);
      }
      for (const [id, job] of listed) if (!newer.has(id)) this.jobs.set(id, job);
    });
    this.changed(this.list());
  }

  /** Takes what the server says of one job, and gives it as the store then has it. */
  async ask(ask: () => Promise<Job>): Promise<Job> {
    return this.watching(async (newer) => {
      const job = await ask();
      if (!newer.has(job.id)) this.put(job);
      return this.jobs.get(job.id) ?? job;
    });
  }

  private async watching<T>(work: (newer: Set<string>) => Promise<T>): Promise<T> {
    const newer = new Set<string>();
    this.asking.add(newer);
    try {
      return await work(newer);
    } finally {
      this.asking.delete(newer);
    }
  }

  private touch(id: string): void {
    for (const newer of this.asking) newer.add(id);
  }
}
