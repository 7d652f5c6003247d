// SPDX-License-Identifier: Apache-2.0
// Sudokus of 4, 6 and 9: shapes, text in and out, what contradicts, making new ones. Cells are
// numbers row by row, 0 is blank.
import { search } from './sudoku-search';

export const sudokuSizes = [4, 6, 9] as const;
export type SudokuSize = (typeof sudokuSizes)[number];
export type Cells = readonly number[];

const boxRows: Record<SudokuSize, number> = { 4: 2, 6: 2, 9: 3 };
const boxColumns: Record<SudokuSize, number> = { 4: 2, 6: 3, 9: 3 };

export const isSudokuSize = (size: number): size is SudokuSize =>
  sudokuSizes.some((one) => one === size);

export interface BoxShape {
  rows: number;
  columns: number;
}
export const boxShape = (size: SudokuSize): BoxShape => ({
  rows: boxRows[size],
  columns: boxColumns[size],
});

export const emptyCells = (size: SudokuSize): number[] => new Array<number>(size * size).fill(0);

/** Rows, columns and boxes as lists of cells. */
export function unitsOf(size: SudokuSize): number[][] {
  const { rows, columns } = boxShape(size);
  const all = Array.from({ length: size }, (_, i) => i);
  const rowUnits = all.map((row) => all.map((column) => row * size + column));
  const columnUnits = all.map((column) => all.map((row) => row * size + column));
  const across = size / columns;
  const boxUnits = all.map((box) =>
    all.map((i) => {
      const row = Math.floor(box / across) * rows + Math.floor(i / columns);
      const column = (box % across) * columns + (i % columns);
      return row * size + column;
    }),
  );
  return [...rowUnits, ...columnUnits, ...boxUnits];
}

/** The cells whose digit stands twice in a row, column or box. */
export function conflictsOf(cells: Cells, size: SudokuSize): Set<number> {
  const conflicts = new Set<number>();
  for (const unit of unitsOf(size)) {
    for (const a of unit) {
      for (const b of unit)
        if (a !== b && cells[a] !== 0 && cells[a] === cells[b]) conflicts.add(a);
    }
  }
  return conflicts;
}

/** Complete, without contradiction, and with the given digits kept. */
export function isSolutionOf(answer: Cells, given: Cells, size: SudokuSize): boolean {
  return (
    answer.length === size * size &&
    answer.every(
      (digit, i) => digit >= 1 && digit <= size && (given[i] === 0 || given[i] === digit),
    ) &&
    conflictsOf(answer, size).size === 0
  );
}

export const cellsText = (cells: Cells): string =>
  cells.map((digit) => (digit === 0 ? '.' : String(digit))).join('');

/** A puzzle as people write it: a row of digits, lines, drawn with boxes; 0, _ and . are blank.
 * Undefined if it is none. */
export function parseSudoku(text: string): { cells: number[]; size: SudokuSize } | undefined {
  const kept = text.replace(/[^0-9._xX*]/g, '').replace(/[_xX*]/g, '.');
  const size = Math.sqrt(kept.length);
  if (!isSudokuSize(size)) return undefined;
  const cells = [...kept].map((character) => (character === '.' ? 0 : Number(character)));
  return cells.some((digit) => digit > size) ? undefined : { cells, size };
}

/** Up to `most` solutions. */
export function solutionsOf(given: Cells, size: SudokuSize, most: number): number[][] {
  if (conflictsOf(given, size).size > 0) return [];
  return search(given, { size, boxRows: boxRows[size], boxColumns: boxColumns[size] }, most);
}

type Chance = () => number; // 0 to below 1

function shuffled<T>(values: readonly T[], chance: Chance): T[] {
  const all = [...values];
  for (let i = all.length - 1; i > 0; --i) {
    const j = Math.floor(chance() * (i + 1));
    [all[i], all[j]] = [all[j], all[i]];
  }
  return all;
}

/** A full grid: the first row and one cell of the last by chance, the rest searched for. */
function fullGrid(size: SudokuSize, chance: Chance): number[] {
  const digits = shuffled(
    Array.from({ length: size }, (_, i) => i + 1),
    chance,
  );
  const start = emptyCells(size);
  digits.forEach((digit, i) => (start[i] = digit));
  const at = size * (size - 1) + Math.floor(chance() * size);
  for (const digit of shuffled(digits, chance)) {
    start[at] = digit;
    const [full] = solutionsOf(start, size, 1);
    if (full) return full;
  }
  return solutionsOf(emptyCells(size), size, 1)[0];
}

const fewestClues: Record<SudokuSize, number> = { 4: 5, 6: 10, 9: 26 };

/** A puzzle with one solution. */
export function makeSudoku(size: SudokuSize, chance: Chance = Math.random): number[] {
  const cells = fullGrid(size, chance);
  let clues = cells.length;
  for (const at of shuffled(
    cells.map((_, i) => i),
    chance,
  )) {
    if (clues <= fewestClues[size]) break;
    const digit = cells[at];
    cells[at] = 0;
    if (solutionsOf(cells, size, 2).length === 1) clues -= 1;
    else cells[at] = digit;
  }
  return cells;
}
