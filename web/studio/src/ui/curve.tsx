// SPDX-License-Identifier: Apache-2.0
// A curve over the steps of a training, with its ends in numbers.
import { type MetricRow, type Point, curveOf, thinned } from '../state/runs';
import './curve.css';

const [width, height] = [600, 160];
const mostPoints = 300;

const figure = (value: number) =>
  Math.abs(value) >= 1000 || (value !== 0 && Math.abs(value) < 0.001)
    ? value.toExponential(1)
    : Number(value.toPrecision(3)).toString();

function pathOf(points: Point[], low: number, high: number): string {
  const [first, last] = [points[0].x, points[points.length - 1].x];
  const across = last > first ? width / (last - first) : 0;
  const up = high > low ? (height - 8) / (high - low) : 0;
  return points
    .map(({ x, y }, i) => {
      const place = `${((x - first) * across).toFixed(1)} ${(height - 4 - (y - low) * up).toFixed(1)}`;
      return `${i === 0 ? 'M' : 'L'}${place}`;
    })
    .join('');
}

export function Curve({ rows, name }: { rows: readonly MetricRow[]; name: string }) {
  const all = curveOf(rows, name);
  if (all.length < 2) return null;
  const points = thinned(all, mostPoints);
  const low = Math.min(...points.map(({ y }) => y));
  const high = Math.max(...points.map(({ y }) => y));
  const last = all[all.length - 1];
  const words = `${name} from ${figure(all[0].y)} at step ${all[0].x} to ${figure(last.y)} at step ${last.x}`;
  return (
    <figure class="curve">
      <figcaption class="row apart">
        <strong>{name.replaceAll('_', ' ')}</strong>
        <span class="small">
          {figure(last.y)} <span class="soft">at step {last.x}</span>
        </span>
      </figcaption>
      <div class="curve-frame">
        <div class="curve-axis small soft" aria-hidden="true">
          <span>{figure(high)}</span>
          <span>{figure(low)}</span>
        </div>
        <svg
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={words}
        >
          <path d={pathOf(points, low, high)} />
        </svg>
      </div>
    </figure>
  );
}
