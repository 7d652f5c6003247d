// SPDX-License-Identifier: Apache-2.0
// Values that outlive a reload: of this tab (a half-written song) or of this browser (the theme).
// Where a browser refuses storage they live as long as the page.
import { type Signal, effect, signal } from '@preact/signals';

type Check<T> = (value: unknown) => value is T;

function read(storage: () => Storage, key: string): unknown {
  try {
    const text = storage().getItem(key);
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function kept<T>(storage: () => Storage, key: string, first: T, isOne: Check<T>): Signal<T> {
  const name = `ubique.studio.${key}`;
  const stored = read(storage, name);
  const value = signal<T>(isOne(stored) ? stored : first);
  effect(() => {
    const text = JSON.stringify(value.value);
    try {
      storage().setItem(name, text);
    } catch {
      // full or refused: kept until the page goes
    }
  });
  return value;
}

export const keptInTab = <T>(key: string, first: T, isOne: Check<T>) =>
  kept(() => sessionStorage, key, first, isOne);
export const keptInBrowser = <T>(key: string, first: T, isOne: Check<T>) =>
  kept(() => localStorage, key, first, isOne);

export const isText = (value: unknown): value is string => typeof value === 'string';
export const isNumber = (value: unknown): value is number => typeof value === 'number';
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
