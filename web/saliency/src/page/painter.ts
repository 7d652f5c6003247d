// SPDX-License-Identifier: Apache-2.0
// A worker that makes pictures to keep, at the picture's own size, so that large ones do not hold
// up the page. One picture, then it is ended.
import { answerRequests } from '../../../shared/engines/worker-line';
import { restore } from '../images/frame';
import { type Pixels, measured } from '../images/raster';
import { drawOverlay, greyPicture } from '../looks/heatmap';
import type { Painting } from './paint';

function paintedPixels({ what, pixels, map, style }: Painting): Pixels {
  const whole = restore(map, [pixels.height, pixels.width]);
  return what === 'map' ? greyPicture(whole) : drawOverlay(pixels, measured(whole), style);
}

async function png({ width, height, data }: Pixels): Promise<Blob> {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d');
  if (!context) throw new Error(`the browser has no canvas of ${width} × ${height} pixels`);
  const image = new ImageData(data as Uint8ClampedArray<ArrayBuffer>, width, height);
  context.putImageData(image, 0, 0);
  return canvas.convertToBlob({ type: 'image/png' });
}

answerRequests<Painting>((painting) => png(paintedPixels(painting)), () => []);
