// SPDX-License-Identifier: Apache-2.0
// Runs of training with their curves, which grow while a run goes on.
import { useEffect, useState } from 'preact/hooks';
import { jobs } from '../state/jobs';
import { param, setParams } from '../state/route';
import { type Run, curveNames, curveOf, loadRuns, useRows } from '../state/runs';
import { whenText } from '../state/words';
import { Curve } from '../ui/curve';
import { JobLine, jobById } from '../ui/job-line';
import { Attempt, Empty, Fault } from '../ui/notice';

const attempt = new Attempt();
const mostCurves = 6;

function RunView({ run }: { run: Run }) {
  const job = run.job ? jobById(run.job) : undefined;
  const rows = useRows(run.id, run.state === 'running' || job?.state === 'running');
  const names = curveNames(rows).filter((name) => curveOf(rows, name).length > 1);
  return (
    <section class="panel stack" aria-label={run.title}>
      <div class="panel-head">
        <h2>{run.title}</h2>
        <a
          class="button"
          href={`api/runs/${encodeURIComponent(run.id)}/report`}
          target="_blank"
          rel="noreferrer"
        >
          Whole report
        </a>
      </div>
      {job && <JobLine job={job} />}
      {names.length === 0 && (
        <p class="soft">
          {run.state === 'running'
            ? 'Curves appear after the first steps.'
            : 'The training was too short for a curve.'}
        </p>
      )}
      <div class="curves">
        {names.slice(0, mostCurves).map((name) => (
          <Curve key={name} rows={rows} name={name} />
        ))}
      </div>
    </section>
  );
}

export function RunsView() {
  const [runs, setRuns] = useState<Run[] | undefined>(undefined);
  const trainings = jobs.value.filter(({ verb }) => verb === 'train' || verb === 'demo');
  const states = trainings.map(({ id, state }) => `${id} ${state}`).join();
  useEffect(() => void attempt.run(async () => setRuns(await loadRuns())), [states]);
  const chosen = runs?.find(({ id }) => id === param('run')) ?? runs?.[0];
  return (
    <div class="stack">
      <Fault text={attempt.fault} />
      {runs?.length === 0 && (
        <section class="panel">
          <Empty sign="machine" title="No training yet">
            <p>
              Train a small model in one of the rooms; its curves are drawn here while it learns.
            </p>
          </Empty>
        </section>
      )}
      {runs && runs.length > 0 && (
        <div class="columns">
          <section class="panel" aria-label="Runs">
            <ul class="item-list">
              {runs.map((run) => (
                <li key={run.id} class="row">
                  <button
                    type="button"
                    class="plain grow item-open"
                    aria-current={run === chosen ? 'true' : undefined}
                    onClick={() => setParams({ run: run.id }, true)}
                  >
                    <span class="ellipsis grow">{run.title}</span>
                    <span class="small soft">
                      {run.family} · {whenText(run.created)}
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          </section>
          {chosen && <RunView key={chosen.id} run={chosen} />}
        </div>
      )}
    </div>
  );
}
