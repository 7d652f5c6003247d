// SPDX-License-Identifier: Apache-2.0
// The colours of labels, the same in the viewer and in the table.

export type Colour = readonly [number, number, number];

/** Colours that are told apart on a grey scan; they repeat after fourteen. */
const palette: Colour[] = [
  [230, 75, 60],
  [72, 160, 220],
  [245, 190, 60],
  [95, 190, 110],
  [170, 110, 200],
  [240, 130, 50],
  [80, 200, 195],
  [225, 105, 165],
  [150, 185, 60],
  [120, 135, 225],
  [200, 150, 110],
  [60, 150, 130],
  [215, 215, 110],
  [160, 90, 100],
];
export const colourOf = (label: number): Colour => palette[(label - 1) % palette.length];
