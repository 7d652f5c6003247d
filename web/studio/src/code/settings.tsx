// SPDX-License-Identifier: Apache-2.0
// How the model writes, kept in this browser.
import { isRecord, keptInBrowser } from '../state/kept';
import { CheckBox, Slider } from '../ui/fields';

export interface CodeSettings {
  maxTokens: number;
  temperature: number;
  byItself: boolean; // proposes when one stops typing
}

const isSettings = (value: unknown): value is CodeSettings =>
  isRecord(value) &&
  typeof value.maxTokens === 'number' &&
  typeof value.temperature === 'number' &&
  typeof value.byItself === 'boolean';

export const settings = keptInBrowser<CodeSettings>(
  'code',
  { maxTokens: 48, temperature: 0, byItself: true },
  isSettings,
);
const change = (part: Partial<CodeSettings>) => (settings.value = { ...settings.value, ...part });

export function CodeSettingsPanel({ isChat }: { isChat: boolean }) {
  const { maxTokens, temperature, byItself } = settings.value;
  return (
    <section class="panel stack" aria-labelledby="settings-title">
      <h2 id="settings-title">Settings</h2>
      {!isChat && (
        <CheckBox
          label="Propose when I stop typing"
          value={byItself}
          change={(value) => change({ byItself: value })}
        />
      )}
      <Slider
        label="Length"
        min={8}
        max={256}
        step={8}
        value={maxTokens}
        text={(value) => `${value} tokens`}
        change={(value) => change({ maxTokens: value })}
      />
      <Slider
        label="Temperature"
        min={0}
        max={1.5}
        step={0.05}
        value={temperature}
        hint="0: always the likeliest; higher: more variety."
        text={(value) => value.toFixed(2)}
        change={(value) => change({ temperature: value })}
      />
    </section>
  );
}
