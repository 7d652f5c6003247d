// SPDX-License-Identifier: Apache-2.0
// Windows over the page: one that asks before something is lost, one that asks for a name, and a
// frame for others. The browser's own <dialog> keeps the focus inside and closes on Escape.
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { TextField } from './fields';

export function Dialog(props: {
  title: string;
  close: () => void;
  children: ComponentChildren;
  class?: string;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const { current } = dialog;
    current?.showModal();
    return () => current?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class={props.class}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        props.close();
      }}
      onClick={({ target }) => target === dialog.current && props.close()}
    >
      <h2 id={id}>{props.title}</h2>
      {props.children}
    </dialog>
  );
}

interface Question {
  title: string;
  text?: string;
  action: string;
  isBad?: boolean;
  name?: string; // asks for one, this is its start
  answer: (name: string | undefined) => void;
}

const question = signal<Question | undefined>(undefined);
const typed = signal('');

function ask(asked: Omit<Question, 'answer'>): Promise<string | undefined> {
  typed.value = asked.name ?? '';
  return new Promise((resolve) => {
    question.value = {
      ...asked,
      answer: (name) => {
        question.value = undefined;
        resolve(name);
      },
    };
  });
}

/** Whether the person agrees. */
export const confirm = async (title: string, text: string, action: string): Promise<boolean> =>
  (await ask({ title, text, action, isBad: true })) !== undefined;

/** The name that the person gives, if any. */
export const askName = (title: string, action: string, name = ''): Promise<string | undefined> =>
  ask({ title, action, name }).then((given) => given?.trim() || undefined);

/** Shown once, at the end of the page. */
export function Questions() {
  const asked = question.value;
  if (!asked) return null;
  const agree = () => asked.answer(typed.value);
  return (
    <Dialog title={asked.title} close={() => asked.answer(undefined)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          agree();
        }}
      >
        {asked.text && <p class="soft">{asked.text}</p>}
        {asked.name !== undefined && (
          <TextField label="Name" value={typed.value} change={(text) => (typed.value = text)} />
        )}
        <div class="actions">
          <button type="button" onClick={() => asked.answer(undefined)}>
            Keep it as it is
          </button>
          <button type="submit" class={asked.isBad ? 'bad' : 'main'}>
            {asked.action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
