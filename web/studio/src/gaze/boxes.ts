// SPDX-License-Identifier: Apache-2.0
// Boxes on a picture, as text in the address: name,x,y,width,height and a semicolon between them.
import type { Box } from '../../../saliency/src/looks/attention';

export const boxesText = (boxes: readonly Box[]): string =>
  boxes
    .map(({ name, x, y, width, height }) =>
      [name.replace(/[,;]/g, ' '), ...[x, y, width, height].map(Math.round)].join(','),
    )
    .join(';');

export function parseBoxes(text: string): Box[] {
  return text.split(';').flatMap((part) => {
    const [name, ...numbers] = part.split(',');
    const [x, y, width, height] = numbers.map(Number);
    const isBox =
      numbers.length === 4 && numbers.every((word) => word !== '' && Number.isFinite(Number(word)));
    return isBox && width > 0 && height > 0 ? [{ name, x, y, width, height }] : [];
  });
}

/** Where somebody dragged, inside of the picture; a click is no box. */
export function boxBetween(
  a: readonly [number, number],
  b: readonly [number, number],
  size: { width: number; height: number },
  name: string,
): Box | undefined {
  const clamp = (value: number, most: number) => Math.min(Math.max(value, 0), most);
  const [x0, x1] = [a[0], b[0]].map((x) => clamp(x, size.width)).sort((p, q) => p - q);
  const [y0, y1] = [a[1], b[1]].map((y) => clamp(y, size.height)).sort((p, q) => p - q);
  const [width, height] = [Math.round(x1 - x0), Math.round(y1 - y0)];
  const least = Math.max(2, Math.min(size.width, size.height) / 100);
  if (width < least || height < least) return undefined;
  return { name, x: Math.round(x0), y: Math.round(y0), width, height };
}

export function freeName(boxes: readonly Box[]): string {
  const names = new Set(boxes.map(({ name }) => name));
  for (let number = boxes.length + 1; ; ++number)
    if (!names.has(`Box ${number}`)) return `Box ${number}`;
}
