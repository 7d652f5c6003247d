// SPDX-License-Identifier: Apache-2.0
// NumPy's files, as far as maps need them: two axes of 32-bit numbers, rows first.
import type { SaliencyMap } from '../../../saliency/src/images/raster';

const magic = '\x93NUMPY';

export function parseNpy(bytes: ArrayBuffer): SaliencyMap {
  const start = new Uint8Array(bytes, 0, Math.min(10, bytes.byteLength));
  if (start.length < 10 || String.fromCharCode(...start.slice(0, 6)) !== magic) {
    throw new Error('The map is no NumPy file.');
  }
  const view = new DataView(bytes);
  const isFirst = start[6] === 1;
  const begin = isFirst ? 10 : 12;
  const length = isFirst ? view.getUint16(8, true) : view.getUint32(8, true);
  if (begin + length > bytes.byteLength) throw new Error('The map is cut short.');
  const header = new TextDecoder('latin1').decode(new Uint8Array(bytes, begin, length));
  const shape = /'shape':\s*\((\d+),\s*(\d+),?\)/.exec(header);
  if (!shape || !/'descr':\s*'<f4'/.test(header) || !/'fortran_order':\s*False/.test(header)) {
    throw new Error('The map is of another form than expected: two axes of f32.');
  }
  const [height, width] = [Number(shape[1]), Number(shape[2])];
  if (bytes.byteLength < begin + length + 4 * width * height)
    throw new Error('The map is cut short.');
  const values = new Float32Array(bytes.slice(begin + length, begin + length + 4 * width * height));
  return { width, height, values };
}
