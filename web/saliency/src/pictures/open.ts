// SPDX-License-Identifier: Apache-2.0
// From a file to pixels as `ubique run` reads them: turned upright as the file says, colours as the
// file has them without conversion, opacity left out.
import type { Pixels } from '../images/raster';
import { PictureError, explain } from './picture-error';
import { rawPixels } from './raw-pixels';

const MOST_BYTES = 400e6;
const MOST_PIXELS = 100e6; // 400 MB as canvases hold them

function checkPixels(name: string, width: number, height: number): void {
  if (width * height <= MOST_PIXELS) return;
  const megapixels = Math.round((width * height) / 1e6);
  throw new PictureError(
    `${name} is too large for this page: ${width} × ${height} is ${megapixels} megapixels, and ` +
      `at most ${MOST_PIXELS / 1e6} can be shown. Make it smaller, or use \`ubique run msinet\`.`,
  );
}

async function decode(file: Blob, name: string): Promise<ImageBitmap> {
  if (file.size > MOST_BYTES) {
    throw new PictureError(
      `${name} is too large for this page: ${Math.round(file.size / 1e6)} MB, at most ` +
        `${MOST_BYTES / 1e6} MB. Make it smaller, or use \`ubique run msinet\`.`,
    );
  }
  return createImageBitmap(file, {
    imageOrientation: 'from-image',
    premultiplyAlpha: 'none',
    colorSpaceConversion: 'none',
  }).catch(async () => {
    throw await explain(file, name);
  });
}

function canvasPixels(bitmap: ImageBitmap, name: string): ImageData {
  const { width, height } = bitmap;
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (!context) {
    throw new PictureError(`${name}: the browser has no canvas of ${width} × ${height} pixels.`);
  }
  context.drawImage(bitmap, 0, 0);
  return context.getImageData(0, 0, width, height);
}

function isOpaque({ data }: Pixels): boolean {
  for (let at = 3; at < data.length; at += 4) if (data[at] !== 255) return false;
  return true;
}

export async function openPicture(file: Blob, name: string): Promise<Pixels> {
  const bitmap = await decode(file, name);
  try {
    checkPixels(name, bitmap.width, bitmap.height);
    const pixels = canvasPixels(bitmap, name);
    // A canvas multiplies colours with their opacity, which cannot be undone where that is 0.
    const whole = isOpaque(pixels) ? pixels : (rawPixels(bitmap) ?? pixels);
    for (let at = 3; at < whole.data.length; at += 4) whole.data[at] = 255;
    return whole;
  } finally {
    bitmap.close();
  }
}
