// SPDX-License-Identifier: Apache-2.0
// Rows of figures for people.

const COLUMNS = [
  ['voxels', (row) => `${row.size}^3`],
  ['engine', (row) => row.engine],
  ['seconds', (row) => row.seconds?.toPrecision(3)],
  ['faster', (row) => row.times_faster && `${row.times_faster.toPrecision(3)}x`],
  ['peak MiB', (row) => row.peak_mib?.toFixed(0)],
  ['foretold', (row) => row.foretold_mib?.toFixed(0)],
  ['tiles', (row) => row.tiles],
  ['same labels', (row) => row.same_labels && `${(100 * row.same_labels).toFixed(3)} %`],
  ['', (row) => row.title ?? row.reason],
];

export function printTable(rows) {
  const cells = rows.map((row) => COLUMNS.map(([, of]) => String(of(row) ?? '-')));
  const widths = COLUMNS.map(([name], i) =>
    Math.max(name.length, ...cells.map((row) => row[i].length)),
  );
  const line = (row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]))
      .join('  ')
      .trimEnd();
  console.log([line(COLUMNS.map(([name]) => name)), ...cells.map(line)].join('\n'));
}
