// SPDX-License-Identifier: Apache-2.0
// Mazes: lines of walls #, open cells, one start S and one goal G; a path is o.

export interface Maze {
  rows: number;
  columns: number;
  cells: string; // row by row
}

const known = '# SGo.';

/** Lines of equal length; undefined if they are no maze. */
export function parseMaze(text: string): Maze | undefined {
  const lines = text
    .replace(/\r/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const columns = Math.max(0, ...lines.map((line) => line.length));
  const isOne =
    lines.length > 1 && lines.every((line) => [...line].every((cell) => known.includes(cell)));
  if (!isOne) return undefined;
  const cells = lines
    .map((line) => line.padEnd(columns))
    .join('')
    .replaceAll('.', ' ');
  return { rows: lines.length, columns, cells };
}

/** As the program reads it, with dots, which survive where spaces are lost. */
export function mazeText({ rows, columns, cells }: Maze): string {
  const lines = Array.from({ length: rows }, (_, row) =>
    cells.slice(row * columns, (row + 1) * columns),
  );
  return `${lines.join('\n').replaceAll(' ', '.')}\n`;
}

export function whatIsMissing({ cells }: Maze): string {
  const count = (cell: string) => cells.split(cell).length - 1;
  if (count('S') !== 1) return 'A maze needs one start.';
  if (count('G') !== 1) return 'A maze needs one goal.';
  return '';
}

/** A cell becomes what is painted; start and goal move. */
export function painted(maze: Maze, at: number, paint: string): Maze {
  const cells = [...maze.cells];
  if (paint === 'S' || paint === 'G') {
    const before = cells.indexOf(paint);
    if (before >= 0) cells[before] = ' ';
  }
  cells[at] = paint;
  return { ...maze, cells: cells.join('') };
}

type Chance = () => number;

/** Corridors without loops, walls around them; start and goal at two ends. */
export function makeMaze(rows: number, columns: number, chance: Chance = Math.random): Maze {
  const cells = new Array<string>(rows * columns).fill('#');
  const start = columns + 1;
  const stack = [start];
  cells[start] = ' ';
  let [farthest, depth] = [start, 0];
  while (stack.length > 0) {
    const at = stack[stack.length - 1];
    const [row, column] = [Math.floor(at / columns), at % columns];
    const ways = [
      [0, 2],
      [2, 0],
      [0, -2],
      [-2, 0],
    ].filter(([down, across]) => {
      const [r, c] = [row + down, column + across];
      return r > 0 && c > 0 && r < rows - 1 && c < columns - 1 && cells[r * columns + c] === '#';
    });
    if (ways.length === 0) {
      stack.pop();
      continue;
    }
    const [down, across] = ways[Math.floor(chance() * ways.length)];
    cells[(row + down / 2) * columns + column + across / 2] = ' ';
    const next = (row + down) * columns + column + across;
    cells[next] = ' ';
    stack.push(next);
    if (stack.length > depth) [farthest, depth] = [next, stack.length];
  }
  cells[start] = 'S';
  cells[farthest] = 'G';
  return { rows, columns, cells: cells.join('') };
}
