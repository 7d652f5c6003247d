// SPDX-License-Identifier: Apache-2.0
// Step 1: which picture. Tells what a person chose, pasted or dropped; shows what there is.
import { byId, fillFacts, make } from '../../../shared/page/elements';
import type { Pixels } from '../images/raster';
import type { Box } from '../looks/attention';
import { within } from './viewer';

const strip = byId('pictures', HTMLUListElement);
const facts = byId('picture-facts', HTMLDListElement);
const thumbnail = 96; // pixels of the longer side

/** What can be shown: a picture or the camera. */
export interface Subject {
  name: string;
  boxes: Box[];
}

/** A picture that a person added. Its pixels are read anew when it is looked at: many large ones
 * would not fit into memory. */
export interface Entry extends Subject {
  open(): Promise<Pixels>;
}

interface Item {
  entry: Entry;
  button: HTMLButtonElement;
  canvas: HTMLCanvasElement;
}

const items: Item[] = [];

export function baseName(file: string): string {
  return file.replace(/\.[^.]*$/, '') || file;
}

export function onPicturesChosen(add: (files: File[]) => void, sample: () => void): void {
  const input = byId('picture-files', HTMLInputElement);
  input.addEventListener('change', () => {
    const files = [...(input.files ?? [])];
    input.value = ''; // so that the same file can be chosen again
    if (files.length > 0) add(files);
  });
  byId('sample', HTMLButtonElement).addEventListener('click', sample);
  addEventListener('paste', (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length === 0) return; // text, for a field
    event.preventDefault();
    add(files);
  });
}

/** Adds them to the strip, which appears once there are several. */
export function offerPictures(entries: Entry[], select: (entry: Entry) => void): void {
  for (const entry of entries) {
    const canvas = make('canvas', { width: 4, height: 3 });
    const button = make('button', { type: 'button' }, canvas, make('span', {}, entry.name));
    button.addEventListener('click', () => select(entry));
    items.push({ entry, button, canvas });
    strip.append(make('li', {}, button));
  }
  strip.hidden = items.length < 2;
}

export function markPicture(entry: Entry | undefined): void {
  for (const { entry: each, button } of items) {
    button.setAttribute('aria-current', String(each === entry));
  }
}

/** One that could not be read is taken out again. */
export function withdrawPicture(entry: Entry): void {
  const index = items.findIndex((item) => item.entry === entry);
  if (index < 0) return;
  items[index].button.parentElement?.remove();
  items.splice(index, 1);
  strip.hidden = items.length < 2;
}

export function showPicture(name: string, pixels: Pixels, entry?: Entry): void {
  const { width, height } = pixels;
  fillFacts(facts, [
    ['Name', name],
    ['Pixels', `${width} × ${height}`],
  ]);
  const canvas = items.find((item) => item.entry === entry)?.canvas;
  if (!canvas) return;
  const small = within(pixels, thumbnail);
  Object.assign(canvas, { width: small.width, height: small.height });
  const image = new ImageData(
    small.data as Uint8ClampedArray<ArrayBuffer>,
    small.width,
    small.height,
  );
  canvas.getContext('2d')?.putImageData(image, 0, 0);
}
