// SPDX-License-Identifier: Apache-2.0
// The picture with its map, as large as a screen needs it: what is kept or downloaded is made at
// the picture's own size elsewhere.
import { byId } from '../../../shared/page/elements';
import { restore } from '../images/frame';
import {
  type MeasuredMap,
  type Pixels,
  type SaliencyMap,
  measured,
  shareOf,
} from '../images/raster';
import { type Style, drawMap, drawOverlay } from '../looks/heatmap';
import { findPeaks } from '../looks/peaks';
import type { View } from './look-panel';

const overlayPlate = byId('overlay-plate', HTMLDivElement);
const mapPlate = byId('map-plate', HTMLDivElement);
const overlayCanvas = byId('overlay-canvas', HTMLCanvasElement);
const mapCanvas = byId('map-canvas', HTMLCanvasElement);
const empty = byId('empty', HTMLParagraphElement);
const readout = byId('readout', HTMLOutputElement);
const longest = 1280; // pixels of a side that are drawn

export interface Scene {
  name: string;
  pixels: Pixels;
  map?: SaliencyMap; // of the network's frame; none while it is not known
}

interface Shown {
  scene: Scene;
  pixels: Pixels; // as large as is drawn
  map?: MeasuredMap; // of the same size
}

let shown: Shown | undefined;

function canvasOf({ width, height, data }: Pixels): HTMLCanvasElement {
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  const image = new ImageData(data as Uint8ClampedArray<ArrayBuffer>, width, height);
  canvas.getContext('2d')?.putImageData(image, 0, 0);
  return canvas;
}

/** The picture within so many pixels along each side; the same one if it is small enough. */
export function within(pixels: Pixels, most: number): Pixels {
  const scale = most / Math.max(pixels.width, pixels.height);
  if (scale >= 1) return pixels;
  const width = Math.max(1, Math.round(pixels.width * scale));
  const height = Math.max(1, Math.round(pixels.height * scale));
  const small = Object.assign(document.createElement('canvas'), { width, height });
  const context = small.getContext('2d', { willReadFrequently: true });
  if (!context) return pixels;
  context.imageSmoothingQuality = 'high';
  context.drawImage(canvasOf(pixels), 0, 0, width, height);
  return context.getImageData(0, 0, width, height);
}

export function showScene(scene: Scene | undefined): void {
  const same = scene !== undefined && shown?.scene.pixels === scene.pixels;
  const pixels = same ? shown?.pixels : scene && within(scene.pixels, longest);
  if (!scene || !pixels) {
    shown = undefined;
  } else {
    const map = scene.map && measured(restore(scene.map, [pixels.height, pixels.width]));
    shown = { scene, pixels, map };
    const ratio = String(scene.pixels.width / scene.pixels.height);
    for (const plate of [overlayPlate, mapPlate]) plate.style.setProperty('--ratio', ratio);
    overlayCanvas.ariaLabel = scene.map ? `${scene.name} with its map` : scene.name;
    mapCanvas.ariaLabel = `Map of ${scene.name}`;
  }
  empty.hidden = shown !== undefined;
}

/** The map at the size it is drawn, and how many of its pixels are one of the picture's. */
export function shownMap(): { map: MeasuredMap; scale: number } | undefined {
  if (!shown?.map) return undefined;
  return { map: shown.map, scale: shown.pixels.width / shown.scene.pixels.width };
}

function put(canvas: HTMLCanvasElement, { width, height, data }: Pixels): void {
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const image = new ImageData(data as Uint8ClampedArray<ArrayBuffer>, width, height);
  canvas.getContext('2d')?.putImageData(image, 0, 0);
}

export function draw(view: View, style: Style): void {
  overlayPlate.hidden = !shown || (view === 'map' && shown.map !== undefined);
  mapPlate.hidden = !shown?.map || view === 'overlay';
  if (!shown) return;
  const { pixels, map } = shown;
  if (!overlayPlate.hidden) {
    const plain = !map || view === 'side';
    put(overlayCanvas, plain ? pixels : drawOverlay(pixels, map, style));
  }
  if (map && !mapPlate.hidden) put(mapCanvas, drawMap(map, style));
}

const thirds = (place: number, length: number, words: [string, string, string]) =>
  words[Math.min(2, Math.floor((3 * place) / length))];

/** Where the first places are, for those who do not see the map. */
export function placesText(): string {
  if (!shown?.map) return '';
  const { map } = shown;
  const places = findPeaks(map, 3).map(({ x, y }) => {
    const down = thirds(y, map.height, ['upper', 'middle', 'lower']);
    const across = thirds(x, map.width, ['left', 'centre', 'right']);
    return `${down} ${across}`;
  });
  if (places.length === 0) return 'No place stands out.';
  const words = `The eye should go first to the ${places.join(', then to the ')}.`;
  for (const canvas of [overlayCanvas, mapCanvas]) canvas.ariaLabel += `. ${words}`;
  return words;
}

/** Follows the pointer over a plate. */
function showPlace(event: PointerEvent): void {
  if (!shown || !(event.currentTarget instanceof HTMLElement)) return;
  const { map, scene, pixels } = shown;
  const box = event.currentTarget.getBoundingClientRect();
  const place = (share: number, length: number) =>
    Math.min(Math.max(Math.floor(share * length), 0), length - 1);
  const across = (event.clientX - box.left) / box.width;
  const down = (event.clientY - box.top) / box.height;
  const x = place(across, scene.pixels.width);
  const y = place(down, scene.pixels.height);
  const at = place(down, pixels.height) * pixels.width + place(across, pixels.width);
  const share = map && Math.round(100 * shareOf(map, map.values[at]));
  readout.textContent = `${x}, ${y}${share === undefined ? '' : ` · ${share} % of the highest`}`;
}

for (const plate of [overlayPlate, mapPlate]) {
  plate.addEventListener('pointermove', showPlace);
  plate.addEventListener('pointerleave', () => (readout.textContent = ''));
}
