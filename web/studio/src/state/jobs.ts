// SPDX-License-Identifier: Apache-2.0
// The queue of the server, live, and what a person does with it.
import { computed, signal } from '@preact/signals';
import { ApiError, api, send } from '../api/client';
import type { Job, JobRequest } from '../api/types';
import { JobStore, isActive } from './job-store';

export const jobs = signal<Job[]>([]);
export const jobStore = new JobStore((list) => {
  jobs.value = list;
});
export const activeJobs = computed(() => jobs.value.filter(isActive));

/** A server may answer a list alone or with words around it. */
export function listOf<T>(answer: T[] | Record<string, unknown>, key: string): T[] {
  if (Array.isArray(answer)) return answer;
  const inside = answer[key];
  return Array.isArray(inside) ? (inside as T[]) : [];
}

export const refreshJobs = () =>
  jobStore.refresh(async () => listOf<Job>(await api.get('api/jobs?limit=200'), 'jobs'));

/** Names a request, so that one that is sent twice makes no second job. */
function freshKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const unanswered = new Map<string, string>(); // keys of requests whose answer has not come

/** On a slow network people press twice, and answers get lost: the same request is then the same job. */
export async function startJob(request: JobRequest): Promise<Job> {
  const body = JSON.stringify(request);
  const key = unanswered.get(body) ?? freshKey();
  unanswered.set(body, key);
  try {
    const headers = { 'Idempotency-Key': key };
    const job = await jobStore.ask(() => api.post<Job>('api/jobs', request, headers));
    unanswered.delete(body);
    return job;
  } catch (error) {
    if (!(error instanceof ApiError && error.kind === 'offline')) unanswered.delete(body);
    throw error;
  }
}

const jobPath = (id: string) => `api/jobs/${encodeURIComponent(id)}`;

/** The job as the server says. */
export const fetchJob = (id: string): Promise<Job> => jobStore.ask(() => api.get<Job>(jobPath(id)));

export type JobAction = 'cancel' | 'pause' | 'resume' | 'retry';

export const actOnJob = (id: string, action: JobAction): Promise<Job> =>
  jobStore.ask(async () => {
    const job = await api.post<Job | undefined>(`${jobPath(id)}/${action}`);
    return job?.id ? job : api.get<Job>(jobPath(id));
  });

/** Puts a waiting job before another one. */
export async function moveJob(id: string, before: string): Promise<void> {
  await api.patch(jobPath(id), { before });
  await refreshJobs();
}

export async function forgetJob(id: string): Promise<void> {
  await api.delete(jobPath(id));
  jobStore.remove(id);
}

/** What the command wrote, from that byte on. */
export async function jobLog(id: string, from = 0): Promise<{ text: string; next: number }> {
  const response = await send(`${jobPath(id)}/log?from=${from}`);
  const text = await response.text();
  return { text, next: Number(response.headers.get('X-Next') ?? from + text.length) };
}

export const jobOutcome = (id: string) =>
  api.get<unknown>(`${jobPath(id)}/outcome`);
