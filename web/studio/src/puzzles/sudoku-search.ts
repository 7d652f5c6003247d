// SPDX-License-Identifier: Apache-2.0
// Solutions of a sudoku by search: always the blank with the fewest digits that fit. Digits of a row,
// column or box are bits, so that a puzzle is made up while one waits for a click.

export interface SearchShape {
  size: number;
  boxRows: number;
  boxColumns: number;
}

const bitCounts = Uint8Array.from(
  { length: 1024 },
  (_, bits) => bits.toString(2).replaceAll('0', '').length,
);

class Search {
  readonly found: number[][] = [];
  private readonly rows: number[];
  private readonly columns: number[];
  private readonly boxes: number[];
  private readonly boxAt: number[];
  private readonly blanks: number[] = [];

  constructor(
    private readonly cells: number[],
    private readonly shape: SearchShape,
    private readonly most: number,
  ) {
    const { size, boxRows, boxColumns } = shape;
    const all = ((1 << size) - 1) << 1; // digits that are free
    this.rows = new Array<number>(size).fill(all);
    this.columns = new Array<number>(size).fill(all);
    this.boxes = new Array<number>(size).fill(all);
    this.boxAt = cells.map((_, at) => {
      const [row, column] = [Math.floor(at / size), at % size];
      return Math.floor(row / boxRows) * (size / boxColumns) + Math.floor(column / boxColumns);
    });
    cells.forEach((digit, at) => {
      if (digit === 0) this.blanks.push(at);
      else this.toggle(at, digit);
    });
  }

  private toggle(at: number, digit: number): void {
    const { size } = this.shape;
    const bit = 1 << digit;
    this.rows[Math.floor(at / size)] ^= bit;
    this.columns[at % size] ^= bit;
    this.boxes[this.boxAt[at]] ^= bit;
  }

  private free(at: number): number {
    const { size } = this.shape;
    return this.rows[Math.floor(at / size)] & this.columns[at % size] & this.boxes[this.boxAt[at]];
  }

  run(): void {
    let best = -1;
    let [bits, fewest] = [0, 99];
    for (let i = 0; i < this.blanks.length && fewest > 1; ++i) {
      const free = this.free(this.blanks[i]);
      const count = bitCounts[free];
      if (count < fewest) [best, bits, fewest] = [i, free, count];
    }
    if (best < 0) {
      this.found.push([...this.cells]);
      return;
    }
    const at = this.blanks[best];
    this.blanks[best] = this.blanks[this.blanks.length - 1];
    this.blanks.pop();
    for (let digit = 1; digit <= this.shape.size && this.found.length < this.most; ++digit) {
      if ((bits & (1 << digit)) === 0) continue;
      this.cells[at] = digit;
      this.toggle(at, digit);
      this.run();
      this.toggle(at, digit);
    }
    this.cells[at] = 0;
    this.blanks.push(this.blanks[best] ?? at);
    this.blanks[best] = at;
  }
}

/** Up to `most` solutions of cells that do not contradict each other. */
export function search(given: readonly number[], shape: SearchShape, most: number): number[][] {
  const searching = new Search([...given], shape, most);
  searching.run();
  return searching.found;
}
