// SPDX-License-Identifier: Apache-2.0
// Numbers, times and states in words that people read.
import type { Job, JobState, Progress } from '../api/types';

export function bytesText(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`;
  if (bytes >= 1e6) return `${Math.round(bytes / 1e6)} MB`;
  return `${Math.max(1, Math.round(bytes / 1e3))} kB`;
}

/** 0:07, 3:25 */
export function clockText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** "a few seconds", "40 s", "3 min", "2 h 10 min" */
export function durationText(seconds: number): string {
  if (seconds < 5) return 'a few seconds';
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function whenText(time: string, now = new Date()): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return '';
  const clock = date.toLocaleTimeString('en', { hour: 'numeric', minute: '2-digit' });
  if (date.toDateString() === now.toDateString()) return `today, ${clock}`;
  return `${date.toLocaleDateString('en', { day: 'numeric', month: 'short' })}, ${clock}`;
}

const stateWords: Record<JobState, string> = {
  queued: 'Waiting',
  running: 'Working',
  paused: 'Paused',
  succeeded: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

export function jobText(job: Job): string {
  if (job.stopping) return job.stopping === 'pause' ? 'Pausing' : 'Stopping';
  if (job.state === 'queued') {
    if (job.waiting) return `Waiting: ${job.waiting}`;
    return job.position && job.position > 1 ? `Waiting, number ${job.position}` : 'Waiting';
  }
  if (job.state !== 'running' || !job.progress) return stateWords[job.state];
  return progressText(job.progress);
}

export function progressText({ stage, step, steps, eta_s }: Progress): string {
  const name = stage ? stage.charAt(0).toUpperCase() + stage.slice(1) : 'Working';
  const count = steps ? ` ${step} of ${steps}` : '';
  const left = eta_s !== null && eta_s > 1 ? `, about ${durationText(eta_s)} left` : '';
  return `${name}${count}${left}`;
}

export function countText(count: number): string {
  return count.toLocaleString('en');
}

export const plural = (count: number, one: string, many = `${one}s`) =>
  `${countText(count)} ${count === 1 ? one : many}`;
