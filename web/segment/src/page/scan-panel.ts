// SPDX-License-Identifier: Apache-2.0
// Step 1: which scan. Tells what a person chose, shows what was opened.
import type { Manifest } from '../model';
import { everyAxis } from '../scans/affine';
import type { ScanFacts, ScanSource } from '../scans/workshop';
import { byId, fillFacts } from '../../../shared/page/elements';
import { shapeText } from '../../../shared/page/words';
import { spacingText } from './words';

const facts = byId('scan-facts', HTMLDListElement);
const volumeChoice = byId('volume-choice', HTMLDivElement);
const volumeNumber = byId('volume-number', HTMLInputElement);
const volumeRange = byId('volume-range', HTMLSpanElement);
const headSizes = { least: 48, most: 128 };
const headField = 192; // mm

/** As fine as the model looks at it, within reason. */
export function headFor(manifest: Manifest | undefined): ScanSource {
  const finest = Math.min(...everyAxis(manifest?.preprocessing.spacing ?? 3));
  const wanted = Math.round(headField / finest);
  const size = Math.min(Math.max(wanted, headSizes.least), headSizes.most);
  return { kind: 'head', options: { size, seed: 7 } };
}

export function onScanChosen(open: (file: File) => void, openHead: () => void): void {
  const input = byId('scan-file', HTMLInputElement);
  input.addEventListener('change', () => {
    const file = input.files?.[0];
    if (file) open(file);
    input.value = ''; // so that the same file can be chosen again
  });
  byId('synthetic', HTMLButtonElement).addEventListener('click', openHead);
}

export function showScan(scan: ScanFacts | undefined): void {
  volumeChoice.hidden = true;
  if (!scan) return fillFacts(facts, []);
  fillFacts(facts, [
    ['Name', scan.name],
    ['Voxels', shapeText(scan.shape)],
    ['Spacing', spacingText(scan.spacing)],
    ['Axes', scan.axes],
  ]);
}

/** A file of several volumes: a person picks one, counted from 1. */
export function askForVolume(volumes: number, open: (volume: number) => void): void {
  volumeRange.textContent = `(1 to ${volumes})`;
  volumeNumber.max = String(volumes);
  volumeNumber.value = '1';
  volumeChoice.hidden = false;
  byId('volume-open', HTMLButtonElement).onclick = () => open(volumeNumber.valueAsNumber - 1);
  volumeNumber.focus();
}
