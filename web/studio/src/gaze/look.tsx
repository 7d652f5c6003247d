// SPDX-License-Identifier: Apache-2.0
// How a map is shown: kept in this browser.
import { type Palette, paletteNames } from '../../../saliency/src/looks/palettes';
import { isRecord, keptInBrowser } from '../state/kept';
import { NumberField, Segments, Select, Slider } from '../ui/fields';

export const views = ['overlay', 'map', 'picture'] as const;
export type View = (typeof views)[number];

export interface Look {
  view: View;
  palette: Palette;
  alpha: number;
  contours: string; // shares, with commas
  peaks: number;
}

const first: Look = { view: 'overlay', palette: 'inferno', alpha: 0.6, contours: '', peaks: 3 };
const isLook = (value: unknown): value is Look =>
  isRecord(value) &&
  views.some((view) => view === value.view) &&
  paletteNames.some((name) => name === value.palette) &&
  typeof value.alpha === 'number' &&
  typeof value.contours === 'string' &&
  typeof value.peaks === 'number';

export const look = keptInBrowser<Look>('look', first, isLook);
const change = (part: Partial<Look>) => (look.value = { ...look.value, ...part });

export const contourLevels = ({ contours }: Look): number[] =>
  contours
    .split(',')
    .filter((word) => word !== '')
    .map(Number);

const viewNames: Record<View, string> = {
  overlay: 'Overlay',
  map: 'Map alone',
  picture: 'Picture',
};
const contourChoices = [
  { value: '', text: 'None' },
  { value: '0.5', text: 'At half of the highest' },
  { value: '0.2,0.4,0.6,0.8', text: 'At 20, 40, 60 and 80 %' },
];

export function LookPanel() {
  const { view, palette, alpha, contours, peaks } = look.value;
  return (
    <section class="panel stack" aria-labelledby="look-title">
      <h2 id="look-title">Look</h2>
      <Segments
        label="What is shown"
        isLabelUnseen
        value={view}
        choices={views.map((value) => ({ value, text: viewNames[value] }))}
        change={(value) => change({ view: value })}
      />
      <div class="grid-2">
        <Select
          label="Colours"
          value={palette}
          choices={paletteNames.map((name) => ({
            value: name,
            text: name.charAt(0).toUpperCase() + name.slice(1),
          }))}
          change={(value) => change({ palette: value })}
        />
        <Select
          label="Contours"
          value={contours}
          choices={contourChoices}
          change={(value) => change({ contours: value })}
        />
        <Slider
          label="Opacity"
          min={0}
          max={1}
          step={0.05}
          value={alpha}
          text={(value) => `${Math.round(100 * value)} %`}
          change={(value) => change({ alpha: value })}
        />
        <NumberField
          label="First places"
          min={0}
          max={9}
          step={1}
          value={peaks}
          change={(value) => change({ peaks: Math.min(9, Math.max(0, Math.round(value ?? 0))) })}
        />
      </div>
    </section>
  );
}
