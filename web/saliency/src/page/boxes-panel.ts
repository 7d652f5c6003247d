// SPDX-License-Identifier: Apache-2.0
// Boxes that a person draws on the picture, or adds and moves by numbers, and how much of the
// attention falls into each. The boxes themselves belong to the picture.
import { handOut } from '../../../shared/page/downloads';
import { byId, make } from '../../../shared/page/elements';
import { type Attention, type Box, attentionCsv, attentionIn } from '../looks/attention';
import { shownMap } from './viewer';

const rows = byId('boxes', HTMLTableElement).tBodies[0];
const wide = byId('boxes-wide', HTMLDivElement);
const csv = byId('boxes-csv', HTMLButtonElement);
const plates = [byId('overlay-plate', HTMLDivElement), byId('map-plate', HTMLDivElement)];
const fields = ['x', 'y', 'width', 'height'] as const;
const fieldNames = { x: 'Left', y: 'Top', width: 'Width', height: 'Height' };
const smallest = 3; // pixels on the screen: less is a click

/** What boxes are drawn on. */
export interface Target {
  name: string;
  width: number;
  height: number;
  boxes: Box[];
}

let target: Target | undefined;
let cells: { attention: HTMLElement; lift: HTMLElement }[] = []; // one for each box

function attentionOf(box: Box): Attention | undefined {
  const shown = shownMap();
  if (!shown) return undefined;
  const { map, scale } = shown;
  const [x, y, width, height] = fields.map((field) => box[field] * scale);
  return attentionIn(map, { name: box.name, x, y, width, height });
}

/** Letters in the order of the alphabet, then with numbers. */
function nextName(boxes: Box[]): string {
  const taken = new Set(boxes.map(({ name }) => name));
  for (let i = 0; ; ++i) {
    const round = Math.floor(i / 26);
    const name = String.fromCharCode(65 + (i % 26)) + (round > 0 ? String(round + 1) : '');
    if (!taken.has(name)) return name;
  }
}

function drawBoxes(): void {
  for (const plate of plates) {
    const svg = plate.querySelector('svg');
    if (!svg) continue;
    svg.setAttribute('viewBox', `0 0 ${target?.width ?? 1} ${target?.height ?? 1}`);
    svg.setAttribute('preserveAspectRatio', 'none');
    const size = Math.max(target?.width ?? 1, target?.height ?? 1) / 32;
    svg.replaceChildren(
      ...(target?.boxes ?? []).flatMap(({ name, x, y, width, height }) => [
        drawn('rect', { x, y, width, height }),
        drawn('text', { x: x + size / 3, y: y + size, style: `font-size:${size}px` }, name),
      ]),
    );
  }
}

function drawn(tag: string, attributes: Record<string, string | number>, text = ''): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.textContent = text;
  return element;
}

function numberField(box: Box, field: (typeof fields)[number]): HTMLTableCellElement {
  const input = make('input', {
    type: 'number',
    step: 'any',
    value: String(box[field]),
    min: field === 'width' || field === 'height' ? '1' : '',
    ariaLabel: `${fieldNames[field]} of box ${box.name}, in pixels`,
  });
  input.addEventListener('input', () => {
    const least = field === 'width' || field === 'height' ? 1 : -Infinity;
    if (Number.isNaN(input.valueAsNumber) || input.valueAsNumber < least) return;
    box[field] = input.valueAsNumber;
    drawBoxes();
    showAttention();
  });
  return make('td', {}, input);
}

function boxRow(box: Box, remove: () => void): HTMLTableRowElement {
  const attention = make('td');
  const lift = make('td');
  cells.push({ attention, lift });
  const label = `Remove box ${box.name}`;
  const button = make('button', { type: 'button', className: 'plain', ariaLabel: label }, '×');
  button.addEventListener('click', remove);
  const name = make('th', { scope: 'row' }, box.name);
  const numbers = fields.map((field) => numberField(box, field));
  return make('tr', {}, name, ...numbers, attention, lift, make('td', {}, button));
}

/** Other boxes than before: rows and lines are made anew. */
function rebuild(): void {
  const boxes = target?.boxes ?? [];
  cells = [];
  rows.replaceChildren(
    ...boxes.map((box) =>
      boxRow(box, () => {
        boxes.splice(boxes.indexOf(box), 1);
        rebuild();
        byId('add-box', HTMLButtonElement).focus();
      }),
    ),
  );
  wide.hidden = csv.hidden = boxes.length === 0;
  drawBoxes();
  showAttention();
}

/** The figures of the boxes there are, for another map. */
export function showAttention(): void {
  target?.boxes.forEach((box, i) => {
    const found = attentionOf(box);
    const known = found ? `${(100 * found.share).toFixed(1)} %` : shownMap() ? 'outside' : '…';
    cells[i].attention.textContent = known;
    cells[i].lift.textContent = found ? found.lift.toFixed(2) : '';
  });
}

export function showBoxes(of: Target | undefined): void {
  target = of;
  rebuild();
}

function addBox(x: number, y: number, width: number, height: number): void {
  if (!target) return;
  target.boxes.push({ name: nextName(target.boxes), x, y, width, height });
  rebuild();
}

/** From where the pointer went down to where it is, in whole pixels of the picture. */
function dragged(plate: HTMLElement, from: PointerEvent, to: PointerEvent): Omit<Box, 'name'> {
  const box = plate.getBoundingClientRect();
  const { width, height } = target ?? { width: 1, height: 1 };
  const along = (client: number, start: number, length: number, pixels: number) =>
    Math.round(Math.min(Math.max((client - start) / length, 0), 1) * pixels);
  const xs = [from, to].map(({ clientX }) => along(clientX, box.left, box.width, width));
  const ys = [from, to].map(({ clientY }) => along(clientY, box.top, box.height, height));
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}

function onDrag(plate: HTMLElement): void {
  plate.addEventListener('pointerdown', (down) => {
    if (!target || down.button !== 0) return;
    plate.setPointerCapture(down.pointerId);
    const preview = drawn('rect', {});
    plate.querySelector('svg')?.append(preview);
    const move = (event: PointerEvent) => {
      for (const [name, value] of Object.entries(dragged(plate, down, event))) {
        preview.setAttribute(name, String(value));
      }
    };
    const finish = (event: PointerEvent) => {
      plate.removeEventListener('pointermove', move);
      plate.removeEventListener('pointerup', finish);
      plate.removeEventListener('pointercancel', finish);
      preview.remove();
      const moved = Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY);
      const { x, y, width, height } = dragged(plate, down, event);
      if (event.type === 'pointerup' && moved >= smallest && width * height > 0) {
        addBox(x, y, width, height);
      }
    };
    plate.addEventListener('pointermove', move);
    plate.addEventListener('pointerup', finish);
    plate.addEventListener('pointercancel', finish);
  });
}

function handOutCsv(): void {
  if (!target) return;
  const found = target.boxes.flatMap((box) => {
    const attention = attentionOf(box);
    return attention ? [[box, attention] as [Box, Attention]] : [];
  });
  const text = attentionCsv(target.name, found);
  handOut(new Blob([text], { type: 'text/csv' }), `${target.name}_attention.csv`);
}

export function prepareBoxes(): void {
  plates.forEach(onDrag);
  csv.addEventListener('click', handOutCsv);
  byId('add-box', HTMLButtonElement).addEventListener('click', () => {
    if (!target) return;
    const [width, height] = [target.width, target.height].map((side) => Math.round(side / 2));
    addBox(Math.round(width / 2), Math.round(height / 2), width, height);
    rows.rows[rows.rows.length - 1].querySelector('input')?.focus();
  });
}
