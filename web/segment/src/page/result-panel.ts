// SPDX-License-Identifier: Apache-2.0
// What came out: a table of volumes and files to keep.
import type { Segmented } from '../engines/choice';
import type { Label } from '../model';
import type { NativeLabels } from '../scans/workshop';
import { Downloads } from '../../../shared/page/downloads';
import { byId, make, swatch } from '../../../shared/page/elements';
import { countText, secondsText } from '../../../shared/page/words';
import { engineNames } from './words';

const box = byId('volumes-box', HTMLElement);
const rows = byId('volumes', HTMLTableElement).tBodies[0];
const summary = byId('summary', HTMLParagraphElement);
const downloads = byId('downloads', HTMLDivElement);
const kept = new Downloads(); // given back when the next result comes

export function countVoxels(values: Uint8Array, classes: number): number[] {
  const counts = new Array<number>(classes).fill(0);
  for (let i = 0; i < values.length; ++i) counts[values[i]] += 1;
  return counts;
}

function volumeRow(label: Label, voxels: number, voxelMm3: number): HTMLTableRowElement {
  return make(
    'tr',
    {},
    make('th', { scope: 'row' }, swatch(label.colour), label.name),
    make('td', {}, countText(voxels)),
    make('td', {}, ((voxels * voxelMm3) / 1000).toFixed(1)),
  );
}

/** The same columns as volumes.csv of `ubique run`. */
function volumesCsv(name: string, labels: Label[], counts: number[], voxelMm3: number): Blob {
  const quoted = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = labels.map(({ name: label }, i) =>
    [quoted(name), i, quoted(label), counts[i], (counts[i] * voxelMm3).toFixed(3)].join(','),
  );
  return new Blob([['scan,label,name,voxels,mm3', ...lines.slice(1), ''].join('\n')], {
    type: 'text/csv',
  });
}

export interface Result {
  name: string; // of the scan
  labels: Label[];
  segmented: Segmented;
  native: NativeLabels;
}

export function showResult({ name, labels, segmented, native }: Result): void {
  hideResult();
  const counts = countVoxels(native.values, labels.length);
  const rest = labels.slice(1).map((label, i) => volumeRow(label, counts[i + 1], native.voxelMm3));
  rows.replaceChildren(...rest);
  const parts = segmented.tiles > 1 ? ` in ${segmented.tiles} sub-volumes` : '';
  summary.textContent =
    `Segmented in ${secondsText(segmented.seconds)}${parts} by ${engineNames[segmented.engine]}.`;
  const csv = volumesCsv(name, labels, counts, native.voxelMm3);
  downloads.replaceChildren(
    kept.link('Label map', native.native, `${name}_labels.nii.gz`),
    kept.link("Label map on the model's grid", native.conformed, `${name}_labels_conformed.nii.gz`),
    kept.link('Volumes as CSV', csv, `${name}_volumes.csv`),
  );
  box.hidden = false;
  byId('volumes-title', HTMLHeadingElement).focus({ preventScroll: true });
  byId('canvas', HTMLCanvasElement).scrollIntoView({ block: 'nearest' });
}

export function hideResult(): void {
  box.hidden = true;
  kept.forget();
}
