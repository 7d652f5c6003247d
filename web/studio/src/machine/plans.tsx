// SPDX-License-Identifier: Apache-2.0
// How a model would run here and on machines that one does not have, side by side, with the reason
// of each choice.
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { api } from '../api/client';
import { param, setParams } from '../state/route';
import { session } from '../state/session';
import { bytesText } from '../state/words';
import { CheckBox, Segments, Select, TextField } from '../ui/fields';
import { Attempt, Fault } from '../ui/notice';
import { Sign } from '../ui/sign';
import { Wide } from '../ui/wide';
import type { Attempt as PlanAttempt, Chosen, Plans, Profile } from './types';

const attempt = new Attempt();
const profiles = signal<Profile[]>([]);
const most = 4; // machines side by side
const here = 'here';
const usual = [here, 'm3-max-36g', 'rtx4090', 'h200'];

const chosenMachines = (): string[] => {
  const words = param('on')
    .split(',')
    .filter((word) => word !== '');
  return words.length > 0 ? words.slice(0, most) : usual;
};

async function planFor(
  family: string,
  mode: string,
  machines: string[],
  memory: string,
): Promise<Plans> {
  const options = memory.trim() ? { memory: memory.trim() } : {};
  const others = machines.filter((name) => name !== here);
  const ask = (on?: string[]) =>
    api.post<Plans>('api/machine/plan', { family, mode, options, ...(on ? { on } : {}) });
  const [own, elsewhere] = await Promise.all([
    machines.includes(here) ? ask() : undefined,
    others.length > 0 ? ask(others) : undefined,
  ]);
  const first = own ?? elsewhere;
  if (!first) throw new Error('Choose a machine.');
  const rows = (own?.plans ?? []).map((plan) => ({ ...plan, machine: 'This machine' }));
  return { ...first, plans: [...rows, ...(elsewhere?.plans ?? [])] };
}

const valueText = (value: unknown): string => {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (value === null || value === undefined || value === '') return '–';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

function Cell({
  chosen,
  isOpen,
  differs,
}: {
  chosen: Chosen | undefined;
  isOpen: boolean;
  differs: boolean; // from the other machines
}) {
  if (!chosen) return <td>–</td>;
  const text = valueText(chosen.value);
  return (
    <td>
      {differs ? <strong>{text}</strong> : text}
      {isOpen && <p class="small soft">{chosen.reason}</p>}
      {isOpen && chosen.rejected.length > 0 && (
        <ul class="rejected small soft">
          {chosen.rejected.map(({ option, why }) => (
            <li key={option}>
              not {option}: {why}
            </li>
          ))}
        </ul>
      )}
    </td>
  );
}

const titles: Record<string, string> = {
  dtype: 'Number format',
  tf32: 'TF32',
  grad_scaler: 'Gradient scaler',
  non_blocking: 'Copies at once',
};
const title = (key: string) =>
  titles[key] ?? key.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase());

function ChoiceRow({
  name,
  plans,
  isOpenAll,
}: {
  name: string;
  plans: PlanAttempt[];
  isOpenAll: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  const shown = isOpen || isOpenAll;
  const values = new Set(
    plans.flatMap(({ plan }) => (plan ? [valueText(plan.choices[name]?.value)] : [])),
  );
  return (
    <tr>
      <th scope="row">
        <button
          type="button"
          class="plain row-toggle"
          aria-expanded={shown}
          onClick={() => setOpen(!isOpen)}
        >
          {title(name)}
        </button>
      </th>
      {plans.map(({ machine, plan }) => (
        <Cell key={machine} chosen={plan?.choices[name]} isOpen={shown} differs={values.size > 1} />
      ))}
    </tr>
  );
}

function memoryCell({ plan, error }: PlanAttempt, key: string): string {
  const value = plan?.memory[key];
  if (typeof value === 'number') return bytesText(value);
  return error && key === 'total' ? 'does not fit' : '–';
}

function PlanTable({ plans }: { plans: Plans }) {
  const [isOpenAll, setOpenAll] = useState(false);
  const names = Object.keys(plans.plans.find(({ plan }) => plan)?.plan?.choices ?? {});
  return (
    <div class="stack">
      <CheckBox label="Show all reasons" value={isOpenAll} change={setOpenAll} />
      <Wide label="Plans">
        <table class="plans">
          <thead>
            <tr>
              <th scope="col">
                <span class="unseen">Choice</span>
              </th>
              {plans.plans.map(({ machine }) => (
                <th key={machine} scope="col">
                  {machine}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {(['total', 'budget'] as const).map((key) => (
              <tr key={key}>
                <th scope="row">{key === 'total' ? 'Memory needed' : 'Memory there'}</th>
                {plans.plans.map((plan) => (
                  <td key={plan.machine}>
                    <strong>{memoryCell(plan, key)}</strong>
                  </td>
                ))}
              </tr>
            ))}
            {plans.plans.some(({ error }) => error) && (
              <tr>
                <th scope="row">Why not</th>
                {plans.plans.map(({ machine, error }) => (
                  <td key={machine} class="small bad-words">
                    {error ?? ''}
                  </td>
                ))}
              </tr>
            )}
            {names.map((name) => (
              <ChoiceRow key={name} name={name} plans={plans.plans} isOpenAll={isOpenAll} />
            ))}
          </tbody>
        </table>
      </Wide>
    </div>
  );
}

function MachineBoxes({ machines }: { machines: string[] }) {
  const toggle = (id: string) => {
    const next = machines.includes(id) ? machines.filter((one) => one !== id) : [...machines, id];
    setParams({ on: next.slice(-most).join(',') });
  };
  const all = [{ id: here, name: 'This machine' }, ...profiles.value];
  return (
    <fieldset>
      <legend>Machines, at most {most}</legend>
      <div class="machine-boxes">
        {all.map(({ id, name }) => (
          <label key={id} class="check" title={name}>
            <input type="checkbox" checked={machines.includes(id)} onChange={() => toggle(id)} />
            <span class="ellipsis">{id === here ? name : id}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

const modes = [
  { value: 'run', text: 'To run' },
  { value: 'train', text: 'To train' },
] as const;

export function PlansView() {
  const families = session.value?.families ?? [];
  const family =
    families.find(({ name }) => name === param('family'))?.name ?? families[0]?.name ?? '';
  const mode = param('mode') === 'train' ? 'train' : 'run';
  const machines = chosenMachines();
  const memory = param('memory');
  const [plans, setPlans] = useState<Plans | undefined>(undefined);
  useEffect(() => {
    const load = async () => {
      profiles.value = (await api.get<{ profiles: Profile[] }>('api/machine/profiles')).profiles;
    };
    if (profiles.value.length === 0) void attempt.run(load);
  }, []);
  const make = () =>
    attempt.run(async () => setPlans(await planFor(family, mode, machines, memory)));
  useEffect(() => {
    if (family) void make();
  }, [family, mode, machines.join()]);
  return (
    <>
      <section class="panel stack" aria-labelledby="plan-title">
        <h2 id="plan-title">Plan a model</h2>
        <div class="grid-2">
          <Select
            label="Model family"
            value={family}
            choices={families.map(({ name }) => ({ value: name, text: name }))}
            change={(next) => setParams({ family: next })}
          />
          <Segments
            label="What for"
            value={mode}
            choices={modes}
            change={(next) => setParams({ mode: next })}
          />
          <TextField
            label="Memory limit"
            value={memory}
            placeholder="none"
            hint="8GiB, for example"
            change={(next) => setParams({ memory: next })}
          />
        </div>
        <MachineBoxes machines={machines} />
        <div class="row">
          <button
            type="button"
            class="main"
            disabled={attempt.busy.value || !family}
            onClick={make}
          >
            <Sign name="list" />
            Plan
          </button>
        </div>
        <Fault text={attempt.fault} />
      </section>
      {plans && (
        <section class="panel" aria-label="Side by side">
          <PlanTable plans={plans} />
        </section>
      )}
    </>
  );
}
