// SPDX-License-Identifier: Apache-2.0
// Sudokus and mazes: reading, judging and making them; answers as the program gives them.
import { describe, expect, test } from 'vitest';
import { framesOf, verdict } from '../../../studio/src/puzzles/answer';
import { mazeAddress, mazeInAddress, sudokuInAddress } from '../../../studio/src/puzzles/kinds';
import {
  makeMaze,
  mazeText,
  painted,
  parseMaze,
  whatIsMissing,
} from '../../../studio/src/puzzles/maze';
import {
  cellsText,
  conflictsOf,
  isSolutionOf,
  makeSudoku,
  parseSudoku,
  solutionsOf,
  sudokuSizes,
  unitsOf,
} from '../../../studio/src/puzzles/sudoku';
import { route } from '../../../studio/src/state/route';

/** Numbers by a counter, the same each time. */
function chances(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('a sudoku', () => {
  test('is read in the ways people write it', () => {
    const drawn = '1 . | . 3\n. . | . .\n----+----\n_ 2 | 0 .\n4 . | . 1\n';
    expect(parseSudoku(drawn)).toEqual({
      size: 4,
      cells: [1, 0, 0, 3, 0, 0, 0, 0, 0, 2, 0, 0, 4, 0, 0, 1],
    });
    expect(
      parseSudoku(
        '53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79',
      )?.size,
    ).toBe(9);
  });

  test('is none with another number of cells or a digit that is too large', () => {
    expect(parseSudoku('')).toBeUndefined();
    expect(parseSudoku('123')).toBeUndefined();
    expect(parseSudoku('1'.repeat(80))).toBeUndefined();
    expect(parseSudoku('5...............')).toBeUndefined();
  });

  test('has rows, columns and boxes that each hold every cell once', () => {
    for (const size of sudokuSizes) {
      const units = unitsOf(size);
      expect(units).toHaveLength(3 * size);
      for (const part of [0, 1, 2]) {
        const cells = units
          .slice(part * size, (part + 1) * size)
          .flat()
          .sort((a, b) => a - b);
        expect(cells).toEqual(Array.from({ length: size * size }, (_, i) => i));
      }
    }
    expect(unitsOf(6)[12]).toEqual([0, 1, 2, 6, 7, 8]); // boxes of two rows and three columns
  });

  test('shows where a digit stands twice', () => {
    const { cells } = parseSudoku('1..1............') ?? { cells: [] };
    expect([...conflictsOf(cells, 4)].sort()).toEqual([0, 3]);
    expect(conflictsOf(parseSudoku('1...1...........')?.cells ?? [], 4).size).toBe(2);
    expect(solutionsOf(cells, 4, 1)).toEqual([]);
  });

  test('is solved only by what is full, free of contradiction and keeps the clues', () => {
    const given = parseSudoku('1...............')?.cells ?? [];
    const answer = [...'1234341221434321'].map(Number);
    expect(isSolutionOf(answer, given, 4)).toBe(true);
    expect(isSolutionOf(answer, parseSudoku('2...............')?.cells ?? [], 4)).toBe(false);
    expect(isSolutionOf([...answer.slice(0, 15), 0], given, 4)).toBe(false);
    expect(isSolutionOf([...answer.slice(0, 15), 2], given, 4)).toBe(false);
  });

  test('that is made up has exactly one solution', () => {
    for (const size of sudokuSizes) {
      for (const seed of [1, 2, 3]) {
        const cells = makeSudoku(size, chances(seed));
        const solutions = solutionsOf(cells, size, 2);
        expect(solutions).toHaveLength(1);
        expect(isSolutionOf(solutions[0], cells, size)).toBe(true);
        expect(cells.filter((digit) => digit === 0).length).toBeGreaterThan(size);
      }
    }
    expect(makeSudoku(9, chances(1))).not.toEqual(makeSudoku(9, chances(2)));
  });

  test('is the same after a way through the address', () => {
    const cells = makeSudoku(4, chances(5));
    route.value = { room: 'puzzles', params: { cells: cellsText(cells) } };
    expect(sudokuInAddress(4)).toEqual(cells);
    expect(sudokuInAddress(9)).toBeUndefined();
  });
});

describe('a maze', () => {
  test('goes through text and address unchanged', () => {
    const maze = makeMaze(11, 15, chances(4));
    expect(parseMaze(mazeText(maze))).toEqual(maze);
    route.value = { room: 'puzzles', params: { maze: mazeAddress(maze) } };
    expect(mazeInAddress()).toEqual(maze);
  });

  test('that is made up has one start and one goal that a way joins', () => {
    const { cells, columns } = makeMaze(21, 21, chances(9));
    expect(whatIsMissing({ rows: 21, columns, cells })).toBe('');
    const reached = new Set([cells.indexOf('S')]);
    for (const at of reached) {
      for (const next of [at - 1, at + 1, at - columns, at + columns])
        if (cells[next] !== '#') reached.add(next);
    }
    expect(reached.has(cells.indexOf('G'))).toBe(true);
  });

  test('has one start, wherever it is painted', () => {
    const maze = parseMaze('S.#\n..G\n');
    expect(maze).toBeDefined();
    if (!maze) return;
    const moved = painted(maze, 3, 'S');
    expect(moved.cells).toBe('  #S G');
    expect(whatIsMissing(painted(moved, 5, '#'))).toMatch(/goal/);
  });

  test('is none with other characters', () => {
    expect(parseMaze('hello\nworld\n')).toBeUndefined();
    expect(parseMaze('')).toBeUndefined();
  });

  test('in an address that somebody changed is left out', () => {
    for (const text of ['x', '4.111', '3.', '0.1', '2.10101..']) {
      route.value = { room: 'puzzles', params: { maze: text } };
      expect(mazeInAddress()).toBeUndefined();
    }
  });
});

describe('an answer', () => {
  const answer = {
    name: 'p',
    input: '1...',
    solution: '1234',
    valid: true,
    steps: 2,
    confident: true,
    trace: [
      { step: 1, cells: '1224', q: -1 },
      { step: 2, cells: '1234', q: 1 },
    ],
  };
  test('shows the puzzle and every step', () => {
    expect(framesOf(answer)).toEqual(['1...', '1224', '1234']);
    expect(framesOf({ ...answer, trace: undefined })).toEqual(['1...', '1234']);
  });
  test('is judged in words', () => {
    expect(verdict(answer)).toEqual({ text: 'Solved in 2 steps.', isGood: true });
    expect(verdict({ ...answer, several_solutions: true }).text).toMatch(/Other solutions/);
    expect(verdict({ ...answer, valid: false, confident: false })).toMatchObject({ isGood: false });
  });
});
