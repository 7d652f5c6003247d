// SPDX-License-Identifier: Apache-2.0
// Step 3: how the map is shown.
import { byId, make } from '../../../shared/page/elements';
import type { Style } from '../looks/heatmap';
import { type Palette, paletteNames, paletteTable } from '../looks/palettes';

export type View = 'overlay' | 'map' | 'side';

const palette = byId('palette', HTMLSelectElement);
const bar = byId('palette-bar', HTMLCanvasElement);
const alpha = byId('alpha', HTMLInputElement);
const alphaText = byId('alpha-text', HTMLOutputElement);
const contours = byId('contours', HTMLSelectElement);
const peaks = byId('peaks', HTMLInputElement);
const mostPeaks = 9;

export const percent = (share: number) => `${Math.round(100 * share)} %`;

function chosenPalette(): Palette {
  return paletteNames.find((name) => name === palette.value) ?? 'inferno';
}

export function chosenView(): View {
  const checked = document.querySelector<HTMLInputElement>('input[name="view"]:checked');
  return checked?.value === 'map' || checked?.value === 'side' ? checked.value : 'overlay';
}

export function chosenStyle(): Style {
  return {
    palette: chosenPalette(),
    alpha: alpha.valueAsNumber,
    contours: contours.value === '' ? [] : contours.value.split(',').map(Number),
    peaks: Math.min(Math.max(Math.trunc(peaks.valueAsNumber) || 0, 0), mostPeaks),
  };
}

function showPalette(): void {
  const table = paletteTable(chosenPalette());
  const image = new ImageData(256, 1);
  for (let i = 0; i < 256; ++i) image.data.set([...table.subarray(3 * i, 3 * i + 3), 255], 4 * i);
  bar.getContext('2d')?.putImageData(image, 0, 0);
}

export function prepareLooks(changed: () => void): void {
  for (const name of paletteNames) palette.append(make('option', { value: name }, name));
  const update = () => {
    alphaText.value = percent(alpha.valueAsNumber);
    showPalette();
    changed();
  };
  for (const control of [palette, alpha, contours, peaks]) {
    control.addEventListener('input', update);
  }
  for (const radio of document.querySelectorAll('input[name="view"]')) {
    radio.addEventListener('change', update);
  }
  update();
}
