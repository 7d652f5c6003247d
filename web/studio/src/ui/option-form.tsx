// SPDX-License-Identifier: Apache-2.0
// Settings of a command as a form, made from the program's own table: nothing that the command line
// can do is missing here, and what is left alone keeps the program's default.
import type { CommandOption, OptionValue, Options } from '../api/types';
import { NumberField, Select, TextField } from './fields';

const isWhole = (type: string) => type === 'N';
const isNumber = (type: string) => isWhole(type) || /^(X|SECONDS|SHARE|LUFS|MM3)$/.test(type);

/** "--no-overlay" and "--overlay,!--no-overlay" in words: "overlay". */
export const optionTitle = ({ key }: CommandOption): string => {
  const words = key.replace(/[_.]/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

export function OptionForm(props: {
  options: CommandOption[];
  values: Options;
  change: (key: string, value: OptionValue | undefined) => void;
}) {
  return (
    <div class="grid-2">
      {props.options.map((option) => (
        <OptionField
          key={option.key}
          option={option}
          value={props.values[option.key]}
          change={(value) => props.change(option.key, value)}
        />
      ))}
    </div>
  );
}

function OptionField({
  option,
  value,
  change,
}: {
  option: CommandOption;
  value: OptionValue | undefined;
  change: (value: OptionValue | undefined) => void;
}) {
  const label = optionTitle(option);
  if (option.type === '') {
    const text = value === undefined ? '' : value ? 'on' : 'off';
    return (
      <Select
        label={label}
        hint={option.help}
        value={text}
        choices={[
          { value: '', text: 'As the program says' },
          { value: 'on', text: 'On' },
          { value: 'off', text: 'Off' },
        ]}
        change={(word) => change(word === '' ? undefined : word === 'on')}
      />
    );
  }
  if (isNumber(option.type)) {
    return (
      <NumberField
        label={label}
        hint={option.help}
        placeholder="default"
        step={isWhole(option.type) ? 1 : 'any'}
        value={typeof value === 'number' ? value : undefined}
        change={change}
      />
    );
  }
  return (
    <TextField
      label={label}
      hint={option.help}
      placeholder="default"
      value={typeof value === 'string' ? value : ''}
      change={(text) => change(text === '' ? undefined : text)}
    />
  );
}
