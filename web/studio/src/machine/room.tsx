// SPDX-License-Identifier: Apache-2.0
// Machine: what is here, whether it computes correctly, how models would run on others, what is
// being trained.
import { param, setParams } from '../state/route';
import { Segments } from '../ui/fields';
import { DoctorView } from './doctor';
import { Overview } from './overview';
import { PlansView } from './plans';
import { RunsView } from './runs';
import './machine.css';

const views = [
  { value: 'overview', text: 'This machine' },
  { value: 'doctor', text: 'Doctor' },
  { value: 'plans', text: 'Plans' },
  { value: 'runs', text: 'Runs' },
] as const;
type View = (typeof views)[number]['value'];

const insides: Record<View, () => preact.JSX.Element> = {
  overview: Overview,
  doctor: DoctorView,
  plans: PlansView,
  runs: RunsView,
};

export default function MachineRoom() {
  const view = views.find(({ value }) => value === param('view'))?.value ?? 'overview';
  const Inside = insides[view];
  return (
    <>
      <div class="room-head">
        <div>
          <h1>Machine</h1>
          <p class="soft">What this computer can do, and how models would run on others.</p>
        </div>
      </div>
      <div class="stack">
        <Segments
          label="What is shown"
          isLabelUnseen
          value={view}
          choices={views}
          change={(next) => setParams({ view: next === 'overview' ? '' : next }, true)}
        />
        <Inside />
      </div>
    </>
  );
}
