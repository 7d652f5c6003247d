// SPDX-License-Identifier: Apache-2.0
// What this machine is, which devices it has, and how busy it is now.
import { useEffect, useState } from 'preact/hooks';
import { api } from '../api/client';
import type { Activity } from '../api/types';
import { activity, session } from '../state/session';
import { bytesText } from '../state/words';
import { Attempt, Fault } from '../ui/notice';
import type { Info } from './types';

const attempt = new Attempt();
const deviceNames: Record<string, string> = {
  cuda: 'NVIDIA (CUDA)',
  mps: 'Apple (Metal)',
  xpu: 'Intel (XPU)',
  cpu: 'Processor',
};

function Bar({ label, share, text }: { label: string; share: number; text: string }) {
  const value = Math.min(1, Math.max(0, share));
  return (
    <div class="stack tight">
      <div class="row apart">
        <span>{label}</span>
        <span class="small soft">{text}</span>
      </div>
      <meter min={0} max={1} value={value} aria-label={`${label}: ${text}`} />
    </div>
  );
}

const percent = (share: number) => `${Math.round(100 * share)} % busy`;
const part = (used: number, total: number) => `${bytesText(used)} of ${bytesText(total)}`;

function ActivityPanel() {
  const now = activity.value;
  useEffect(() => {
    if (now) return;
    api
      .get<Activity>('api/machine/activity')
      .then((value) => (activity.value = value))
      .catch(() => undefined);
  }, []);
  if (!now) return null;
  const { cpu, memory, gpus } = now;
  return (
    <section class="panel stack" aria-labelledby="activity-title">
      <h2 id="activity-title">Now</h2>
      <Bar label={`Processor, ${cpu.cores} cores`} share={cpu.busy} text={percent(cpu.busy)} />
      <Bar
        label="Memory"
        share={memory.used / memory.total}
        text={part(memory.used, memory.total)}
      />
      {gpus.map((gpu, i) => [
        <Bar key={`${i} busy`} label={gpu.name} share={gpu.busy} text={percent(gpu.busy)} />,
        <Bar
          key={`${i} memory`}
          label={`Memory of ${gpu.name}`}
          share={gpu.memory_used / gpu.memory_total}
          text={part(gpu.memory_used, gpu.memory_total)}
        />,
      ])}
    </section>
  );
}

function Facts({ info }: { info: Info }) {
  const { device } = info;
  const rows: [string, string][] = [
    ['Device in use', device.label],
    ['Memory', `${bytesText(device.total_bytes)}, ${bytesText(device.budget_bytes)} may be used`],
    ['Number formats', device.native_dtypes.join(', ')],
    ['Cores', String(device.cores)],
    ['System', info.os_version],
    ['Ubique', session.value?.version ?? ''],
    ['LibTorch', info.torch_version],
  ];
  return (
    <section class="panel" aria-labelledby="info-title">
      <h2 id="info-title">This machine</h2>
      <dl class="facts">
        {rows.map(([term, value]) => [
          <dt key={term}>{term}</dt>,
          <dd key={`${term}=`}>{value}</dd>,
        ])}
      </dl>
      <h3 class="spaced">Devices</h3>
      <ul class="device-list">
        {info.candidates.map(({ backend, functional, reason, devices }) => (
          <li key={backend}>
            <span class={functional ? 'dot good' : 'dot'} aria-hidden="true" />
            <span>
              <strong>{deviceNames[backend] ?? backend}</strong>{' '}
              <span class="soft">
                {functional ? devices.map(({ name }) => name).join(', ') : reason}
              </span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Overview() {
  const [info, setInfo] = useState<Info | undefined>(undefined);
  useEffect(() => void attempt.run(async () => setInfo(await api.get<Info>('api/machine'))), []);
  return (
    <div class="columns even">
      <div class="stack">
        <Fault text={attempt.fault} />
        {info ? (
          <Facts info={info} />
        ) : (
          attempt.busy.value && <p class="soft">Asking the machine…</p>
        )}
      </div>
      <ActivityPanel />
    </div>
  );
}
