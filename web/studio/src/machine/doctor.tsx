// SPDX-License-Identifier: Apache-2.0
// The doctor: small computations that show what the device gets right, live and as a table.
import { useEffect, useState } from 'preact/hooks';
import { isActive } from '../state/job-store';
import { jobOutcome, jobs, startJob } from '../state/jobs';
import { param, setParams } from '../state/route';
import { plural } from '../state/words';
import { JobLine, jobById } from '../ui/job-line';
import { Attempt, Empty, Fault, Notice } from '../ui/notice';
import { Sign } from '../ui/sign';
import { Wide } from '../ui/wide';
import { groupsOf } from './groups';
import type { Doctor } from './types';

const attempt = new Attempt();

const start = (refresh: boolean) =>
  attempt.run(async () => {
    const job = await startJob({
      verb: 'doctor',
      options: refresh ? { refresh: true } : {},
      title: 'Doctor',
    });
    setParams({ job: job.id }, true);
  });

function Report({ report }: { report: Doctor }) {
  const groups = groupsOf(report.verdicts);
  return (
    <div class="stack">
      <Notice kind={report.failed > 0 ? 'warn' : 'plain'}>
        {report.label}: {plural(report.passed, 'probe')} passed, {report.failed} failed,{' '}
        {report.refused} refused, {report.skipped} skipped.
        {report.failed > 0 && ' Plans avoid what failed.'}
      </Notice>
      {report.advice.map((text) => (
        <p key={text}>{text}</p>
      ))}
      <Wide label="Results">
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">Operation</th>
              <th scope="col">Passed</th>
              <th scope="col">Failed</th>
              <th scope="col">Refused</th>
            </tr>
          </thead>
          <tbody>
            {groups.map(({ op, counts, faults }) => (
              <tr key={op} class={counts.fail > 0 ? 'bad-words' : undefined}>
                <th scope="row">
                  {op}
                  {faults.map(({ id }) => (
                    <div key={id} class="small mono anywhere">
                      {id}
                    </div>
                  ))}
                </th>
                <td>{counts.pass}</td>
                <td>{counts.fail}</td>
                <td>{counts.refused}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </div>
  );
}

export function DoctorView() {
  const latest = jobs.value.find(({ verb }) => verb === 'doctor');
  const job = jobById(param('job')) ?? latest;
  const [report, setReport] = useState<Doctor | undefined>(undefined);
  const isOver = job !== undefined && !isActive(job);
  useEffect(() => {
    setReport(undefined);
    if (!job || !isOver) return;
    // A probe that failed makes the command end with an error, but its report is there.
    jobOutcome(job.id)
      .then((outcome) => setReport(outcome as Doctor))
      .catch(() => undefined);
  }, [job?.id, isOver]);
  const isBusy = job !== undefined && !isOver;
  return (
    <section class="panel stack" aria-labelledby="doctor-title">
      <div class="panel-head">
        <h2 id="doctor-title">Doctor</h2>
        <div class="row">
          <button
            type="button"
            class="main"
            disabled={isBusy || attempt.busy.value}
            onClick={() => start(false)}
          >
            <Sign name="check" />
            Examine
          </button>
          <button type="button" disabled={isBusy || attempt.busy.value} onClick={() => start(true)}>
            <Sign name="again" />
            All again
          </button>
        </div>
      </div>
      <Fault text={attempt.fault} />
      {job && !report && (
        <JobLine job={job}>
          <p class="soft">Reading the report…</p>
        </JobLine>
      )}
      {report && <Report report={report} />}
      {!job && (
        <Empty sign="machine" title="Does this device compute correctly?">
          <p>
            Small computations are compared with exact ones, forward and backward. It takes half a
            minute at first; the results are kept.
          </p>
        </Empty>
      )}
    </section>
  );
}
