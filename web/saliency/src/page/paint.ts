// SPDX-License-Identifier: Apache-2.0
// Pictures to keep, as PNG files at the picture's own size: the map as grey values and the overlay,
// those that `ubique run` writes.
import { WorkerLine } from '../../../shared/engines/worker-line';
import type { Pixels, SaliencyMap } from '../images/raster';
import type { Style } from '../looks/heatmap';

export interface Painting {
  what: 'map' | 'overlay';
  pixels: Pixels;
  map: SaliencyMap; // of the network's frame
  style: Style;
}

export async function paint(painting: Painting): Promise<Blob> {
  const worker = new Worker(new URL('./painter.ts', import.meta.url), { type: 'module' });
  const line = new WorkerLine<Painting>(worker);
  try {
    return await line.ask<Blob>(painting);
  } finally {
    line.end(new Error('The picture is made.'));
  }
}
