// SPDX-License-Identifier: Apache-2.0
// Ready-made descriptions, and keeping one's own.
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { api } from '../api/client';
import type { Preset } from '../api/types';
import { listOf } from '../state/jobs';
import { askName, confirm } from '../ui/dialog';
import { Select } from '../ui/fields';
import { Attempt, Fault } from '../ui/notice';
import { Sign } from '../ui/sign';
import { draft, presetSettings, withPreset } from './draft';

const presets = signal<Preset[]>([]);
const attempt = new Attempt();

async function load(): Promise<void> {
  presets.value = listOf<Preset>(await api.get('api/presets'), 'presets');
}

const groupOf = ({ source, kind }: Preset) =>
  source === 'own' ? 'Your own' : kind === 'vocal' ? 'Sung' : 'Instrumental';
const nameOf = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 60);

export function PresetField() {
  const [chosen, setChosen] = useState('');
  useEffect(() => {
    if (presets.value.length === 0) void attempt.run(load);
  }, []);
  const preset = presets.value.find(({ name }) => name === chosen);
  const choose = (name: string) => {
    setChosen(name);
    const found = presets.value.find((one) => one.name === name);
    if (found) draft.value = withPreset(draft.value, found);
  };
  const keep = async () => {
    const label = await askName('Keep this as a preset', 'Keep it');
    const name = label ? nameOf(label) : '';
    if (!name) return;
    await attempt.run(async () => {
      await api.put(`api/presets/${name}`, { label, settings: presetSettings(draft.value) });
      await load();
      setChosen(name);
    });
  };
  const remove = async () => {
    if (!preset) return;
    const isSure = await confirm(
      `Remove the preset ${preset.label ?? preset.name}?`,
      '',
      'Remove it',
    );
    if (!isSure) return;
    await attempt.run(async () => {
      await api.delete(`api/presets/${encodeURIComponent(preset.name)}`);
      await load();
      setChosen('');
    });
  };
  const choices = [
    { value: '', text: 'None' },
    ...presets.value.map((one) => ({
      value: one.name,
      text: one.label ?? one.name,
      group: groupOf(one),
    })),
  ];
  return (
    <div class="stack tight">
      <div class="preset-row">
        <Select label="Begin with" value={chosen} choices={choices} change={choose} />
        <button
          type="button"
          class="icon"
          aria-label="Keep this as a preset"
          title="Keep this as a preset"
          onClick={keep}
        >
          <Sign name="plus" />
        </button>
        {preset?.source === 'own' && (
          <button
            type="button"
            class="icon bad"
            aria-label="Remove this preset"
            title="Remove this preset"
            onClick={remove}
          >
            <Sign name="trash" />
          </button>
        )}
      </div>
      <Fault text={attempt.fault} />
    </div>
  );
}
