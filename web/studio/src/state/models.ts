// SPDX-License-Identifier: Apache-2.0
// Which models there are, and which one a person took last.
import { signal } from '@preact/signals';
import { api } from '../api/client';
import type { FamilyName, Model } from '../api/types';
import { listOf } from './jobs';
import { isRecord, keptInBrowser } from './kept';

export const models = signal<Model[] | undefined>(undefined); // none while they are not known

export async function loadModels(): Promise<void> {
  models.value = listOf<Model>(await api.get('api/models'), 'models');
}

type Choices = Record<string, string>;
const isChoices = (value: unknown): value is Choices =>
  isRecord(value) && Object.values(value).every((ref) => typeof ref === 'string');
const taken = keptInBrowser<Choices>('models', {}, isChoices);

export const modelsOf = (family: FamilyName): Model[] | undefined =>
  models.value?.filter((model) => model.family === family);

/** The one that was taken last, else the first of the list. */
export function chosenModel(family: FamilyName): Model | undefined {
  const all = modelsOf(family) ?? [];
  return all.find(({ ref }) => ref === taken.value[family]) ?? all[0];
}

export function chooseModel(family: FamilyName, ref: string): void {
  taken.value = { ...taken.value, [family]: ref };
}
