// SPDX-License-Identifier: Apache-2.0
// A sudoku that can be typed in, and one that only shows. Arrow keys move, digits fill in, the
// space bar or Backspace empties.
import { useRef } from 'preact/hooks';
import { type Cells, type SudokuSize, boxShape, conflictsOf } from './sudoku';

export interface Marks {
  given: Cells; // digits that the puzzle came with
  changed?: ReadonlySet<number>; // by the last step
  wrong?: ReadonlySet<number>;
}

function borders(at: number, size: SudokuSize): string {
  const { rows, columns } = boxShape(size);
  const [row, column] = [Math.floor(at / size), at % size];
  const isRight = column % columns === columns - 1 && column < size - 1;
  const isLow = row % rows === rows - 1 && row < size - 1;
  return `${isRight ? ' box-right' : ''}${isLow ? ' box-low' : ''}`;
}

const moves: Record<string, (at: number, size: number) => number> = {
  ArrowLeft: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  ArrowUp: (at, size) => at - size,
  ArrowDown: (at, size) => at + size,
};

function cellName(at: number, size: number, digit: number): string {
  const place = `Row ${Math.floor(at / size) + 1}, column ${(at % size) + 1}`;
  return `${place}: ${digit === 0 ? 'blank' : digit}`;
}

export function SudokuGrid({
  cells,
  size,
  marks,
  change,
}: {
  cells: Cells;
  size: SudokuSize;
  marks: Marks;
  change?: (cells: number[]) => void; // where it can be typed in
}) {
  const table = useRef<HTMLDivElement>(null);
  const wrong = marks.wrong ?? conflictsOf(cells, size);
  const set = (at: number, digit: number) =>
    change?.(cells.map((old, i) => (i === at ? digit : old)));
  const focus = (at: number) => {
    const inputs = table.current?.querySelectorAll('input');
    inputs?.[Math.min(Math.max(at, 0), cells.length - 1)]?.select();
    inputs?.[Math.min(Math.max(at, 0), cells.length - 1)]?.focus();
  };
  const press = (event: KeyboardEvent, at: number) => {
    const move = moves[event.key];
    if (move) focus(move(at, size));
    else if (/^[1-9]$/.test(event.key) && Number(event.key) <= size) set(at, Number(event.key));
    else if ([' ', '0', '.', 'Backspace', 'Delete'].includes(event.key)) set(at, 0);
    else return;
    event.preventDefault();
  };
  const kind = (at: number) => {
    const names = ['cell'];
    if (marks.given[at] !== 0) names.push('given');
    if (marks.changed?.has(at)) names.push('changed');
    if (wrong.has(at)) names.push('wrong');
    return names.join(' ') + borders(at, size);
  };
  return (
    <div
      ref={table}
      class={`sudoku size-${size}`}
      role="group"
      aria-label={change ? 'Sudoku; type digits' : 'Sudoku'}
      data-cells={cells.join('')}
    >
      {cells.map((digit, at) =>
        change ? (
          <input
            key={at}
            class={kind(at)}
            inputMode="numeric"
            maxLength={1}
            value={digit === 0 ? '' : digit}
            aria-label={cellName(at, size, digit)}
            aria-invalid={wrong.has(at)}
            onKeyDown={(event) => press(event, at)}
            onInput={({ currentTarget }) => {
              const typed = Number(currentTarget.value); // on a phone keys have no names
              const isDigit = typed >= 1 && typed <= size;
              set(at, isDigit ? typed : 0);
              currentTarget.value = isDigit ? String(typed) : '';
            }}
          />
        ) : (
          <span key={at} class={kind(at)} role="img" aria-label={cellName(at, size, digit)}>
            {digit === 0 ? '' : digit}
          </span>
        ),
      )}
    </div>
  );
}
