// SPDX-License-Identifier: Apache-2.0
// Labelled controls. Each has a visible label, and its hint is read with it.
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface Base {
  label: string;
  hint?: string;
}

export function TextField(
  props: Base & {
    value: string;
    change: (value: string) => void;
    placeholder?: string;
    type?: 'text' | 'search';
    isLabelUnseen?: boolean;
    list?: string[];
    disabled?: boolean;
  },
) {
  const id = useId();
  return (
    <div class="field">
      <label for={id} class={props.isLabelUnseen ? 'unseen' : undefined}>
        {props.label}
      </label>
      <input
        id={id}
        type={props.type ?? 'text'}
        value={props.value}
        placeholder={props.placeholder}
        disabled={props.disabled}
        list={props.list ? `${id}-list` : undefined}
        aria-describedby={props.hint ? `${id}-hint` : undefined}
        autocomplete="off"
        onInput={(event) => props.change(event.currentTarget.value)}
      />
      {props.list && (
        <datalist id={`${id}-list`}>
          {props.list.map((word) => (
            <option key={word} value={word} />
          ))}
        </datalist>
      )}
      <Hint id={id} text={props.hint} />
    </div>
  );
}

function Hint({ id, text }: { id: string; text: string | undefined }) {
  return text ? (
    <p class="hint" id={`${id}-hint`}>
      {text}
    </p>
  ) : null;
}

export function TextArea(
  props: Base & {
    value: string;
    change: (value: string) => void;
    placeholder?: string;
    rows?: number;
    class?: string;
    hold?: (element: HTMLTextAreaElement | null) => void;
  },
) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <textarea
        id={id}
        ref={props.hold}
        rows={props.rows ?? 3}
        class={props.class}
        value={props.value}
        placeholder={props.placeholder}
        spellcheck={false}
        aria-describedby={props.hint ? `${id}-hint` : undefined}
        onInput={(event) => props.change(event.currentTarget.value)}
      />
      <Hint id={id} text={props.hint} />
    </div>
  );
}

/** A number that may be left to the program: then it is undefined. */
export function NumberField(
  props: Base & {
    value: number | undefined;
    change: (value: number | undefined) => void;
    placeholder?: string;
    min?: number;
    max?: number;
    step?: number | 'any';
  },
) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <input
        id={id}
        type="number"
        value={props.value ?? ''}
        min={props.min}
        max={props.max}
        step={props.step ?? 'any'}
        placeholder={props.placeholder}
        inputMode="decimal"
        aria-describedby={props.hint ? `${id}-hint` : undefined}
        onInput={({ currentTarget: { value, valueAsNumber } }) =>
          props.change(value === '' || Number.isNaN(valueAsNumber) ? undefined : valueAsNumber)
        }
      />
      <Hint id={id} text={props.hint} />
    </div>
  );
}

export function Slider(
  props: Base & {
    value: number;
    change: (value: number) => void;
    min: number;
    max: number;
    step: number;
    text?: (value: number) => string;
  },
) {
  const id = useId();
  const words = props.text ? props.text(props.value) : String(props.value);
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <span class="slider">
        <input
          id={id}
          type="range"
          min={props.min}
          max={props.max}
          step={props.step}
          value={props.value}
          aria-valuetext={words}
          aria-describedby={props.hint ? `${id}-hint` : undefined}
          onInput={(event) => props.change(event.currentTarget.valueAsNumber)}
        />
        <output for={id}>{words}</output>
      </span>
      <Hint id={id} text={props.hint} />
    </div>
  );
}

export interface Choice<T extends string> {
  value: T;
  text: string;
  group?: string;
}

export function Select<T extends string>(
  props: Base & {
    value: T;
    choices: readonly Choice<T>[];
    change: (value: T) => void;
    isLabelUnseen?: boolean;
    disabled?: boolean;
  },
) {
  const id = useId();
  const groups = [...new Set(props.choices.map(({ group }) => group ?? ''))];
  const option = ({ value, text }: Choice<T>) => (
    <option key={value} value={value} selected={value === props.value}>
      {text}
    </option>
  );
  return (
    <div class="field">
      <label for={id} class={props.isLabelUnseen ? 'unseen' : undefined}>
        {props.label}
      </label>
      <select
        id={id}
        disabled={props.disabled}
        aria-describedby={props.hint ? `${id}-hint` : undefined}
        onChange={(event) => props.change(event.currentTarget.value as T)}
      >
        {groups.map((group) => {
          const inside = props.choices.filter((choice) => (choice.group ?? '') === group);
          if (group === '') return inside.map(option);
          return (
            <optgroup key={group} label={group}>
              {inside.map(option)}
            </optgroup>
          );
        })}
      </select>
      <Hint id={id} text={props.hint} />
    </div>
  );
}

export function CheckBox(props: Base & { value: boolean; change: (value: boolean) => void }) {
  const id = useId();
  return (
    <div>
      <label class="check" for={id}>
        <input
          id={id}
          type="checkbox"
          checked={props.value}
          aria-describedby={props.hint ? `${id}-hint` : undefined}
          onChange={(event) => props.change(event.currentTarget.checked)}
        />
        {props.label}
      </label>
      <Hint id={id} text={props.hint} />
    </div>
  );
}

/** One of a few, all in sight. */
export function Segments<T extends string>(props: {
  label: string;
  isLabelUnseen?: boolean;
  value: T;
  choices: readonly { value: T; text: ComponentChildren }[];
  change: (value: T) => void;
}) {
  const name = useId();
  return (
    <fieldset>
      <legend class={props.isLabelUnseen ? 'unseen' : undefined}>{props.label}</legend>
      <div class="segments">
        {props.choices.map(({ value, text }) => (
          <label key={value}>
            <input
              type="radio"
              name={name}
              value={value}
              checked={value === props.value}
              onChange={() => props.change(value)}
            />
            {text}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
