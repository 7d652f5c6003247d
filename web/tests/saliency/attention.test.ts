// SPDX-License-Identifier: Apache-2.0
// Shares of attention in boxes, by hand; that they are those of `ubique run --boxes` is tested in
// the browser.
import { expect, test } from 'vitest';
import { measured } from '../../saliency/src/images/raster';
import { attentionCsv, attentionIn } from '../../saliency/src/looks/attention';

const map = measured({ width: 2, height: 2, values: new Float32Array([1, 2, 3, 4]) });
const box = (x: number, y: number, width: number, height: number) => ({
  name: 'box', x, y, width, height,
});

test('pixels at the edge count by their part, outside counts for nothing', () => {
  const share = (0.5 * 0.75 * (1 + 2) + 0.5 * 0.25 * (3 + 4)) / 10;
  expect(attentionIn(map, box(0.5, 0.25, 1, 1))?.share).toBeCloseTo(share, 9);
  const corner = attentionIn(map, box(1, 1, 100, 100));
  expect(corner).toMatchObject({ share: 0.4, area: 0.25, lift: 1.6 });
  expect(attentionIn(map, box(-5, -5, 6, 6))?.share).toBeCloseTo(0.1, 9);
  expect(attentionIn(map, box(2, 0, 5, 5))).toBeUndefined();
  expect(attentionIn(map, box(0, 0, -1, 2))).toBeUndefined();
});

test('boxes that tile the picture share everything', () => {
  const left = attentionIn(map, box(0, 0, 0.7, 2));
  const right = attentionIn(map, box(0.7, 0, 1.3, 2));
  expect((left?.share ?? 0) + (right?.share ?? 0)).toBeCloseTo(1, 9);
});

test('an even map and one below 0 have shares too', () => {
  const even = measured({ width: 2, height: 2, values: new Float32Array(4).fill(-3) });
  expect(attentionIn(even, box(0, 0, 1, 2))?.share).toBeCloseTo(0.5, 9);
  const low = measured({ width: 2, height: 1, values: new Float32Array([-1, 1]) });
  expect(attentionIn(low, box(0, 0, 1, 1))?.share).toBe(0);
});

test('the CSV has the columns of ubique, and a line for each box', () => {
  const boxes = { ...box(0, 0, 1, 2), name: 'logo, big' };
  const found = attentionIn(map, boxes);
  if (!found) throw new Error('outside');
  expect(attentionCsv('a.png', [[boxes, found]])).toBe(
    'image,name,x,y,w,h,share,area,lift,peak\n' +
      'a.png,"logo, big",0,0,1,2,0.400000,0.500000,0.8000,0.666667\n',
  );
});
