// SPDX-License-Identifier: Apache-2.0
// The queue: what runs, what waits and in which order, what has ended, with the log of each.
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { plainMessage } from '../api/client';
import type { Job } from '../api/types';
import { isActive } from '../state/job-store';
import { type JobAction, actOnJob, forgetJob, jobLog, jobs, moveJob } from '../state/jobs';
import { jobText, whenText } from '../state/words';
import { Dialog } from '../ui/dialog';
import { JobProgress, jobAttempt } from '../ui/job-line';
import { Empty, Fault } from '../ui/notice';
import { Sign, type SignName } from '../ui/sign';

export const queueIsOpen = signal(false);

function Log({ job }: { job: Job }) {
  const [text, setText] = useState('');
  const { progress } = job;
  useEffect(() => {
    let isMine = true;
    jobLog(job.id)
      .then((log) => isMine && setText(log.text))
      .catch((error: Error) => isMine && setText(error.message));
    return () => {
      isMine = false;
    };
  }, [job.id, job.state, progress?.step]);
  return (
    <pre class="job-log" tabIndex={0} aria-label={`Log of ${job.title}`}>
      {text || 'Nothing yet.'}
    </pre>
  );
}

function Action({
  job,
  action,
  text,
  sign,
}: {
  job: Job;
  action: JobAction;
  text: string;
  sign: SignName;
}) {
  const attempt = jobAttempt(job.id);
  return (
    <button
      type="button"
      class="plain"
      disabled={attempt.busy.value}
      onClick={() => attempt.run(() => actOnJob(job.id, action))}
    >
      <Sign name={sign} />
      {text}
    </button>
  );
}

/** The waiting job before this one, that it may be put before. */
function waitingBefore(job: Job): Job | undefined {
  const waiting = jobs.value.filter(({ state }) => state === 'queued');
  return waiting[waiting.findIndex(({ id }) => id === job.id) - 1];
}

function Actions({ job, toggleLog }: { job: Job; toggleLog: () => void }) {
  const attempt = jobAttempt(job.id);
  const before = job.state === 'queued' ? waitingBefore(job) : undefined;
  const canPause = job.state === 'queued' || (job.state === 'running' && job.can_pause !== false);
  return (
    <div class="job-actions">
      {before && (
        <button
          type="button"
          class="plain"
          onClick={() => attempt.run(() => moveJob(job.id, before.id))}
        >
          <Sign name="up" />
          Earlier
        </button>
      )}
      {canPause && <Action job={job} action="pause" text="Pause" sign="pause" />}
      {job.state === 'paused' && <Action job={job} action="resume" text="Go on" sign="play" />}
      {isActive(job) && <Action job={job} action="cancel" text="Cancel" sign="stop" />}
      {(job.state === 'failed' || job.state === 'cancelled') && (
        <Action job={job} action="retry" text="Try again" sign="again" />
      )}
      <button type="button" class="plain" onClick={toggleLog}>
        <Sign name="list" />
        Log
      </button>
      {!isActive(job) && (
        <button type="button" class="plain" onClick={() => attempt.run(() => forgetJob(job.id))}>
          <Sign name="close" />
          Forget
        </button>
      )}
    </div>
  );
}

function Row({ job }: { job: Job }) {
  const [hasLog, setLog] = useState(false);
  return (
    <li>
      <div class="row apart">
        <strong class="grow ellipsis">{job.title}</strong>
        <span class="small soft">{whenText(job.ended ?? job.started ?? job.created)}</span>
      </div>
      <p class="small" aria-live="polite">
        {jobText(job)}
      </p>
      {job.state === 'running' && <JobProgress job={job} label={`Progress of ${job.title}`} />}
      {job.error && <p class="small anywhere bad-words">{plainMessage(job.error.message)}</p>}
      <Actions job={job} toggleLog={() => setLog(!hasLog)} />
      <Fault text={jobAttempt(job.id).fault} />
      {hasLog && <Log job={job} />}
    </li>
  );
}

export function QueueDrawer() {
  if (!queueIsOpen.value) return null;
  const close = () => (queueIsOpen.value = false);
  return (
    <Dialog title="Queue" class="drawer" close={close}>
      {jobs.value.length === 0 ? (
        <Empty sign="queue" title="Nothing waits">
          <p>Whatever you start in a room appears here, and goes on if you close the page.</p>
        </Empty>
      ) : (
        <ul class="queue-list">
          {jobs.value.map((job) => (
            <Row key={job.id} job={job} />
          ))}
        </ul>
      )}
      <div class="actions">
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
