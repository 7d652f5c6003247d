// SPDX-License-Identifier: Apache-2.0
// Rows of figures for people.

/** Columns are [title, what a row has there]. */
export function printRows(columns, rows) {
  const cells = rows.map((row) => columns.map(([, of]) => String(of(row) ?? '-')));
  const widths = columns.map(([name], i) =>
    Math.max(name.length, ...cells.map((row) => row[i].length)),
  );
  const line = (row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]))
      .join('  ')
      .trimEnd();
  console.log([line(columns.map(([name]) => name)), ...cells.map(line)].join('\n'));
}
