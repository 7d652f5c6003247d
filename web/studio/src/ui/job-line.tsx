// SPDX-License-Identifier: Apache-2.0
// One job where it was started: how far it is, how to stop it, what went wrong.
import type { ComponentChildren } from 'preact';
import { plainMessage } from '../api/client';
import type { Job } from '../api/types';
import { isActive } from '../state/job-store';
import { actOnJob, jobs } from '../state/jobs';
import { jobText } from '../state/words';
import { Attempt, Fault, Notice } from './notice';
import { Sign } from './sign';

export const jobById = (id: string): Job | undefined => jobs.value.find((job) => job.id === id);

export function JobProgress({ job, label }: { job: Job; label: string }) {
  const fraction = job.progress?.fraction ?? undefined;
  if (job.state !== 'running') return <progress value={0} max={1} aria-label={label} />;
  return <progress value={fraction} max={1} aria-label={label} />;
}

const attempts = new Map<string, Attempt>();
/** The attempt that belongs to a job: its buttons stand in more than one place. */
export function jobAttempt(id: string): Attempt {
  const attempt = attempts.get(id) ?? new Attempt();
  attempts.set(id, attempt);
  return attempt;
}

export function JobLine({ job, children }: { job: Job; children?: ComponentChildren }) {
  const attempt = jobAttempt(job.id);
  const retry = (
    <button type="button" onClick={() => attempt.run(() => actOnJob(job.id, 'retry'))}>
      <Sign name="again" />
      Try again
    </button>
  );
  if (job.state === 'failed') {
    return (
      <div class="stack tight">
        <Notice kind="bad">
          {plainMessage(job.error?.message ?? 'It failed without a reason.')}
        </Notice>
        <div class="row">{retry}</div>
        <Fault text={attempt.fault} />
      </div>
    );
  }
  if (job.state === 'cancelled') {
    return (
      <div class="row apart">
        <p class="soft">Cancelled.</p>
        {retry}
      </div>
    );
  }
  if (!isActive(job)) return <>{children}</>;
  return (
    <div class="stack tight" role="group" aria-label={job.title}>
      <div class="row apart">
        <p class="grow" aria-live="polite">
          {jobText(job)}
        </p>
        <button
          type="button"
          disabled={attempt.busy.value || job.stopping === 'cancel'}
          onClick={() => attempt.run(() => actOnJob(job.id, 'cancel'))}
        >
          <Sign name="stop" />
          Cancel
        </button>
      </div>
      <JobProgress job={job} label={`Progress of ${job.title}`} />
      <Fault text={attempt.fault} />
    </div>
  );
}
