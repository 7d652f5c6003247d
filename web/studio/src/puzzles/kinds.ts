// SPDX-License-Identifier: Apache-2.0
// Which kind of puzzle is on the screen, and its cells: in the address.
import type { Model } from '../api/types';
import { param, setParams } from '../state/route';
import { type Maze, makeMaze } from './maze';
import { type SudokuSize, isSudokuSize, makeSudoku, parseSudoku } from './sudoku';

export const kinds = ['sudoku4', 'sudoku6', 'sudoku9', 'maze'] as const;
export type Kind = (typeof kinds)[number];

export const kindTitles: Record<Kind, string> = {
  sudoku4: 'Sudoku 4 × 4',
  sudoku6: 'Sudoku 6 × 6',
  sudoku9: 'Sudoku 9 × 9',
  maze: 'Maze',
};

interface About {
  puzzle?: string;
  rows?: number;
  columns?: number;
}

/** What the model was trained for, as far as the server tells. */
export function kindOf(model: Model | undefined): Kind | undefined {
  const { puzzle, rows } = (model?.about ?? {}) as About;
  if (puzzle === 'maze') return 'maze';
  if (puzzle === 'sudoku' && rows && isSudokuSize(rows)) return `sudoku${rows}`;
  return undefined;
}

export const mazeSide = (model: Model | undefined): number =>
  Math.max(5, Number((model?.about as About | undefined)?.rows) || 30);

export const sizeOf = (kind: Kind): SudokuSize | undefined => {
  const size = Number(kind.replace('sudoku', ''));
  return isSudokuSize(size) ? size : undefined;
};

export const currentKind = (model: Model | undefined): Kind =>
  kinds.find((kind) => kind === param('kind')) ?? kindOf(model) ?? 'sudoku4';

export function sudokuInAddress(size: SudokuSize): number[] | undefined {
  const parsed = parseSudoku(param('cells'));
  return parsed?.size === size ? parsed.cells : undefined;
}

/** Mazes are kept as 0 and 1 for open and wall, with start and goal as numbers after a dot. */
export function mazeInAddress(): Maze | undefined {
  const [size, bits = '', start, goal] = param('maze').split('.');
  const columns = Number(size);
  if (!Number.isInteger(columns) || columns < 3 || bits.length % columns !== 0 || bits.length === 0)
    return undefined;
  const cells = [...bits].map((bit): string => (bit === '1' ? '#' : ' '));
  if (start) cells[Number(start)] = 'S';
  if (goal) cells[Number(goal)] = 'G';
  return { rows: bits.length / columns, columns, cells: cells.slice(0, bits.length).join('') };
}

export function mazeAddress({ columns, cells }: Maze): string {
  const bits = [...cells].map((cell) => (cell === '#' ? '1' : '0')).join('');
  const place = (cell: string) => (cells.includes(cell) ? String(cells.indexOf(cell)) : '');
  return `${columns}.${bits}.${place('S')}.${place('G')}`;
}

/** A new puzzle on the screen. */
export function newPuzzle(kind: Kind, model: Model | undefined): void {
  const size = sizeOf(kind);
  const cleared = { job: '', item: '' };
  if (size) {
    const cells = makeSudoku(size)
      .map((digit) => digit || '.')
      .join('');
    setParams({ kind, cells, maze: '', ...cleared });
  } else {
    const side = mazeSide(model);
    setParams({ kind, maze: mazeAddress(makeMaze(side, side)), cells: '', ...cleared });
  }
}
