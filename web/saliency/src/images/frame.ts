// SPDX-License-Identifier: Apache-2.0
// Pictures of any shape brought into a network's frame, and its maps brought back, as `ubique run`
// does it: scaled to fit, padded around; enlarged to cover, cropped.
import { type Size, areaOf } from '../model';
import type { Pixels, SaliencyMap } from './raster';
import { resize } from './resize';
import { type Method, roundHalfEven } from './taps';

const COLOURS = 3;

/** Where a picture lies in a frame. */
export interface Placement {
  size: Size; // of the scaled picture
  top: number;
  left: number;
}

function scaled([height, width]: Size, ratio: number): Size {
  return [Math.max(1, roundHalfEven(height * ratio)), Math.max(1, roundHalfEven(width * ratio))];
}

/** The largest size that fits; centred, with the odd pixel below and to the right. */
export function fitInside(picture: Size, frame: Size): Placement {
  const ratio = Math.min(frame[0] / picture[0], frame[1] / picture[1]);
  const [height, width] = scaled(picture, ratio);
  const size: Size = [Math.min(height, frame[0]), Math.min(width, frame[1])];
  return {
    size,
    top: Math.floor((frame[0] - size[0]) / 2),
    left: Math.floor((frame[1] - size[1]) / 2),
  };
}

/** The smallest size of a map that covers the picture, and where the picture lies in it. */
export function fitAround(map: Size, picture: Size): Placement {
  const ratio = Math.max(picture[0] / map[0], picture[1] / map[1]);
  const [height, width] = scaled(map, ratio);
  const size: Size = [Math.max(height, picture[0]), Math.max(width, picture[1])];
  return {
    size,
    top: Math.floor((size[0] - picture[0]) / 2),
    left: Math.floor((size[1] - picture[1]) / 2),
  };
}

function methodFor(from: Size, to: Size): Method {
  return to[0] < from[0] || to[1] < from[1] ? 'area' : 'bicubic';
}

/** The network's input: red, green and blue from 0 to 255, `pad` around them.  (3, H, W) */
export function prepare(pixels: Pixels, frame: Size, pad: number): Float32Array {
  const { width, height, data } = pixels;
  const { size, top, left } = fitInside([height, width], frame);
  const source = { width, height, stride: 4, channels: COLOURS, values: data };
  const small = resize(source, size, methodFor([height, width], size)); // (h, w, 3)
  const area = areaOf(frame);
  const out = new Float32Array(COLOURS * area).fill(pad);
  let from = 0;
  for (let y = 0; y < size[0]; ++y) {
    const row = (y + top) * frame[1] + left;
    for (let x = 0; x < size[1]; ++x) {
      for (let c = 0; c < COLOURS; ++c) {
        out[c * area + row + x] = Math.min(Math.max(small[from++], 0), 255);
      }
    }
  }
  return out;
}

/** A network's map (0 to 1) at a picture's size, 0 to 255 and a little beyond. */
export function restore(map: SaliencyMap, picture: Size): SaliencyMap {
  const from: Size = [map.height, map.width];
  const { size, top, left } = fitAround(from, picture);
  const [height, width] = picture;
  const source = { ...map, stride: 1, channels: 1 };
  const window = { top, left, height, width };
  const values = resize(source, size, methodFor(from, size), window);
  for (let i = 0; i < values.length; ++i) values[i] *= 255;
  return { width, height, values };
}
