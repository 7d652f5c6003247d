// SPDX-License-Identifier: Apache-2.0
// A scan in memory, and reading one from a NIfTI file: refused before anything large is held, read
// in pieces, turned while it is read.
import { ByteSource } from './byte-source';
import { type VolumeGrid, voxelCount } from './grid';
import { niftiVersion, startBytes } from './nifti-fields';
import { type NiftiHeader, parseHeader, storedBytes } from './nifti-header';
import { ScanError, check } from './scan-error';
import { swapBytes, valuesOf } from './stored-values';

export interface Scan {
  volume: VolumeGrid; // scaled values in the file's own axes
  header: NiftiHeader;
  storedIntegers: boolean; // integers without slope and inter: interpolation rounds them
  name: string; // of the file, without .nii(.gz)
}

/** A 4D file needs a choice that only a person can make. */
export class SeveralVolumes extends ScanError {
  constructor(
    name: string,
    readonly volumes: number,
  ) {
    super(
      `${name} holds ${volumes} volumes. Expected one: choose which of them, or split the series.`,
    );
    this.name = 'SeveralVolumes';
  }
}

export const mostBytes = 2e9; // of a file, and of a scan in memory
const piecePlanes = 32;

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`;
}

export function scanName(fileName: string): string {
  return fileName.replace(/\.gz$/i, '').replace(/\.nii$/i, '') || 'scan';
}

async function readHeader(source: ByteSource, name: string): Promise<[NiftiHeader, number]> {
  let start = new Uint8Array(startBytes(1));
  let count = await source.read(start);
  if (niftiVersion(start) === 2) {
    const longer = new Uint8Array(startBytes(2));
    longer.set(start);
    count += await source.read(longer.subarray(count));
    start = longer;
  }
  return [parseHeader(start.subarray(0, count), name), count];
}

function checkSize(header: NiftiHeader, source: ByteSource, name: string): void {
  const bytes = voxelCount(header.shape) * 4;
  check(
    bytes <= mostBytes,
    () =>
      `${name} is too large for this page: ${header.shape.join(' x ')} voxels take ` +
      `${gigabytes(bytes)} of memory. Expected at most ${gigabytes(mostBytes)}; use the command ` +
      'line (ubique run meshnet), or a smaller scan.',
  );
  const stored = voxelCount(header.shape) * header.volumes * storedBytes(header.type);
  check(
    header.dataBegin + stored <= source.mostBytes,
    () =>
      `${name} is cut short, or its header is damaged: ${header.shape.join(' x ')} voxels need ` +
      `${header.dataBegin + stored} bytes, and it cannot have more than ${source.mostBytes}. ` +
      'Copy it again.',
  );
}

function pickVolume(header: NiftiHeader, volume: number | undefined, name: string): number {
  if (header.volumes > 1 && volume === undefined) throw new SeveralVolumes(name, header.volumes);
  const picked = volume ?? 0;
  check(
    Number.isInteger(picked) && picked >= 0 && picked < header.volumes,
    () => `${name}: no volume ${picked + 1}. Expected a number from 1 to ${header.volumes}.`,
  );
  return picked;
}

async function readValues(
  source: ByteSource,
  header: NiftiHeader,
  name: string,
): Promise<Float32Array> {
  const [ni, nj, nk] = header.shape;
  const values = new Float32Array(ni * nj * nk); // (i, j, k)
  const width = storedBytes(header.type);
  const plane = ni * nj;
  const buffer = new Uint8Array(plane * Math.min(piecePlanes, nk) * width);
  for (let first = 0; first < nk; first += piecePlanes) {
    const planes = Math.min(piecePlanes, nk - first);
    const bytes = buffer.subarray(0, plane * planes * width);
    const got = await source.read(bytes);
    check(
      got === bytes.length,
      () =>
        `${name} is cut short: it ends in plane ${first + Math.floor(got / (plane * width)) + 1} ` +
        `of ${nk}. Copy it again.`,
    );
    if (header.swapped) swapBytes(bytes, width);
    place(valuesOf(header, bytes), values, header, first, planes);
  }
  return values;
}

/** From the file's order, i fastest, to k fastest. */
function place(
  from: (index: number) => number,
  to: Float32Array,
  { shape: [ni, nj, nk] }: NiftiHeader,
  first: number,
  planes: number,
): void {
  const plane = ni * nj;
  for (let j = 0; j < nj; ++j) {
    for (let i = 0; i < ni; ++i) {
      const row = (i * nj + j) * nk + first;
      const start = j * ni + i;
      for (let k = 0; k < planes; ++k) to[row + k] = from(start + k * plane);
    }
  }
}

function checkFinite(volume: VolumeGrid, name: string): void {
  let count = 0;
  let first = -1;
  const { values, shape } = volume;
  for (let i = 0; i < values.length; ++i) {
    if (Number.isFinite(values[i])) continue;
    if (count++ === 0) first = i;
  }
  check(count === 0, () => {
    const i = Math.floor(first / (shape[1] * shape[2]));
    const j = Math.floor(first / shape[2]) % shape[1];
    return (
      `${name} has voxels that are not numbers: ${count} NaN or infinite, one at ` +
      `(${i}, ${j}, ${first % shape[2]}). Replace them, with 0 for example.`
    );
  });
}

export async function readScan(file: Blob, fileName: string, volume?: number): Promise<Scan> {
  check(
    file.size < mostBytes,
    () =>
      `${fileName} is too large for this page: ${gigabytes(file.size)}. Expected less than ` +
      `${gigabytes(mostBytes)}; use the command line (ubique run meshnet), or a smaller scan.`,
  );
  const source = await ByteSource.open(file, fileName);
  try {
    const [header, position] = await readHeader(source, fileName);
    checkSize(header, source, fileName);
    const picked = pickVolume(header, volume, fileName);
    const bytes = voxelCount(header.shape) * storedBytes(header.type);
    await source.skip(header.dataBegin - position + picked * bytes);
    const values = await readValues(source, header, fileName);
    await source.checkEnd();
    const storedIntegers = !header.type.startsWith('f') && !header.scaled;
    const grid = { shape: header.shape, affine: header.affine, values };
    if (!storedIntegers) checkFinite(grid, fileName);
    return { volume: grid, header, storedIntegers, name: scanName(fileName) };
  } finally {
    await source.close();
  }
}
