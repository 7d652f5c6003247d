// SPDX-License-Identifier: Apache-2.0
// A maze that can be painted, or that only shows; and grids of colours, as ARC has them.
import { useEffect, useRef } from 'preact/hooks';
import type { Maze } from './maze';

const names: Record<string, string> = {
  '#': 'wall',
  S: 'start',
  G: 'goal',
  o: 'path',
  ' ': 'open',
};

export function MazeGrid({ maze, paint }: { maze: Maze; paint?: (at: number) => void }) {
  const { rows, columns, cells } = maze;
  const stage = useRef<HTMLDivElement>(null);
  const isDown = useRef(false);
  const act = (event: PointerEvent) => {
    const element = document.elementFromPoint(event.clientX, event.clientY);
    const at = element instanceof HTMLElement ? element.dataset.at : undefined;
    if (at !== undefined && stage.current?.contains(element)) paint?.(Number(at));
  };
  useEffect(() => {
    stage.current?.style.setProperty('--columns', String(columns));
  }, [columns]);
  return (
    <div
      ref={stage}
      class={paint ? 'maze paintable' : 'maze'}
      role="img"
      data-cells={cells}
      aria-label={`Maze of ${rows} by ${columns} cells`}
      onPointerDown={(event) => {
        isDown.current = true;
        act(event);
      }}
      onPointerMove={(event) => isDown.current && act(event)}
      onPointerUp={() => (isDown.current = false)}
      onPointerLeave={() => (isDown.current = false)}
    >
      {[...cells].map((cell, at) => (
        <span key={at} data-at={at} class={names[cell] ?? 'open'}>
          {cell === 'S' || cell === 'G' ? cell : ''}
        </span>
      ))}
    </div>
  );
}

/** Tokens of ARC: 0 outside, 1 the end of the grid, then the ten colours. */
export function ColourGrid({ tokens }: { tokens: readonly number[] }) {
  const side = Math.round(Math.sqrt(tokens.length));
  const rows = Array.from({ length: side }, (_, row) => tokens.slice(row * side, (row + 1) * side));
  const inside = rows.filter((row) => row.some((token) => token >= 2));
  const columns = Math.max(1, ...inside.map((row) => row.filter((token) => token >= 2).length));
  const stage = useRef<HTMLDivElement>(null);
  useEffect(() => {
    stage.current?.style.setProperty('--columns', String(columns));
  }, [columns]);
  return (
    <div
      ref={stage}
      class="maze arc"
      role="img"
      aria-label={`Grid of ${inside.length} by ${columns} colours`}
    >
      {inside.flatMap((row, i) =>
        row
          .slice(0, columns)
          .map((token, j) => <span key={`${i} ${j}`} class={`arc-${Math.max(0, token - 2)}`} />),
      )}
    </div>
  );
}
