// SPDX-License-Identifier: Apache-2.0
// Light, dark, or as the system says.
import { effect } from '@preact/signals';
import { keptInBrowser } from './kept';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const isTheme = (value: unknown): value is Theme => themes.some((theme) => theme === value);
export const theme = keptInBrowser<Theme>('theme', 'system', isTheme);

export function applyTheme(): void {
  effect(() => {
    const { dataset } = document.documentElement;
    if (theme.value === 'system') delete dataset.theme;
    else dataset.theme = theme.value;
  });
}
