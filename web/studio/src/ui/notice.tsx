// SPDX-License-Identifier: Apache-2.0
// What went wrong, where it went wrong; and what an empty place says.
import { type Signal, signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { messageOf } from '../api/client';
import { Sign, type SignName } from './sign';

export function Notice(props: {
  kind?: 'bad' | 'warn' | 'plain';
  children: ComponentChildren;
  close?: () => void;
}) {
  const kind = props.kind ?? 'plain';
  return (
    <div class={`notice ${kind}`} role={kind === 'plain' ? 'status' : 'alert'}>
      <p>{props.children}</p>
      {props.close && (
        <button
          type="button"
          class="plain icon"
          aria-label="Close this message"
          onClick={props.close}
        >
          <Sign name="close" />
        </button>
      )}
    </div>
  );
}

/** One thing that can go wrong, and whether it is under way. */
export class Attempt {
  readonly fault: Signal<string> = signal('');
  readonly busy: Signal<boolean> = signal(false);

  async run(work: () => Promise<unknown>): Promise<boolean> {
    this.fault.value = '';
    this.busy.value = true;
    try {
      await work();
      return true;
    } catch (error) {
      const isAbort = error instanceof DOMException && error.name === 'AbortError';
      if (!isAbort) this.fault.value = messageOf(error);
      return false;
    } finally {
      this.busy.value = false;
    }
  }
}

export function Fault({ text }: { text: Signal<string> }) {
  if (!text.value) return null;
  return (
    <Notice kind="bad" close={() => (text.value = '')}>
      {text.value}
    </Notice>
  );
}

export function Empty(props: { sign: SignName; title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <Sign name={props.sign} />
      <p>
        <strong>{props.title}</strong>
      </p>
      {props.children}
    </div>
  );
}
