// SPDX-License-Identifier: Apache-2.0
// The models that /v1 serves: code models, and styles of them that were trained here.
import { signal } from '@preact/signals';
import { api } from '../api/client';
import { keptInBrowser, isText } from '../state/kept';

export interface ServedModel {
  id: string;
  owned_by?: string;
}

export const served = signal<ServedModel[] | undefined>(undefined);
const chosenId = keptInBrowser('served-model', '', isText);

export async function loadServed(): Promise<void> {
  served.value = (await api.get<{ data: ServedModel[] }>('v1/models')).data;
}

export const servedModel = (): string =>
  served.value?.find(({ id }) => id === chosenId.value)?.id ?? served.value?.[0]?.id ?? '';

export const chooseServed = (id: string): void => {
  chosenId.value = id;
};
