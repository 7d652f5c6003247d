// SPDX-License-Identifier: Apache-2.0
// Pictures and maps of the server as pixels, and pixels as files.
import { send } from '../api/client';
import type { ItemFile } from '../api/types';
import { openPicture } from '../../../saliency/src/pictures/open';
import {
  type MeasuredMap,
  type Pixels,
  type SaliencyMap,
  measured,
} from '../../../saliency/src/images/raster';
import { parseNpy } from './npy';

const bytesOf = async (address: string) => (await send(address)).arrayBuffer();

export async function loadPicture(address: string, name: string): Promise<Pixels> {
  return openPicture(new Blob([await bytesOf(address)]), name);
}

/** A grey picture's brightness. */
function greyMap({ width, height, data }: Pixels): SaliencyMap {
  const values = new Float32Array(width * height);
  for (let i = 0; i < values.length; ++i) values[i] = data[4 * i];
  return { width, height, values };
}

export async function loadMap({ url, name }: ItemFile): Promise<MeasuredMap> {
  if (/\.npy$/i.test(name)) return measured(parseNpy(await bytesOf(url)));
  return measured(greyMap(await loadPicture(url, name)));
}

export function pngOf(pixels: Pixels): Promise<Blob> {
  const { width, height, data } = pixels;
  const canvas = new OffscreenCanvas(width, height);
  const image = new ImageData(data as Uint8ClampedArray<ArrayBuffer>, width, height);
  canvas.getContext('2d')?.putImageData(image, 0, 0);
  return canvas.convertToBlob({ type: 'image/png' });
}

export async function asFile(pixels: Pixels, name: string): Promise<File> {
  return new File([await pngOf(pixels)], name, { type: 'image/png' });
}

/** Whether the map may come in full precision: it has four bytes a pixel. */
export const suitsFullPrecision = (pixels: { width: number; height: number }) =>
  pixels.width * pixels.height <= 2_000_000;
