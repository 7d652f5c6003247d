// SPDX-License-Identifier: Apache-2.0
// All work on scans, done in a worker: one scan at a time is open there, and what the page needs of
// it comes out. The page's side is scan-desk.ts.
import type { Preprocessing, Shape3 } from '../model';
import { type Affine, spacingOf, voxelVolume } from './affine';
import { prepare } from './conform';
import type { LabelGrid } from './grid';
import { type HeadOptions, makeHead } from './head';
import { toNative } from './native';
import { gzipped, niftiBytes } from './nifti-writer';
import { axisCodes } from './orientation';
import { type Scan, SeveralVolumes, readScan } from './scan';
import { ScanError } from './scan-error';

/** Where a scan comes from; enough to open it again in a new worker. */
export type ScanSource =
  | { kind: 'file'; file: File; volume?: number }
  | { kind: 'head'; options: HeadOptions };

export interface ScanFacts {
  name: string;
  shape: Shape3;
  spacing: [number, number, number]; // mm
  axes: string; // 'RAS'
  picture: Uint8Array<ArrayBuffer>; // a NIfTI file for the viewer
}

export interface Prepared {
  shape: Shape3;
  values: Float32Array; // (D, H, W)
  affine: Affine;
}

export interface NativeLabels {
  values: Uint8Array; // in the scan's own axes, last fastest
  voxelMm3: number;
  picture: Uint8Array<ArrayBuffer>; // a NIfTI file for the viewer
  native: Blob; // .nii.gz
  conformed: Blob; // .nii.gz
}

export type Order =
  | { do: 'open'; source: ScanSource }
  | { do: 'prepare'; how: Preprocessing }
  | { do: 'label'; conformed: LabelGrid };

export type Answer =
  | { ok: true; result: ScanFacts | Prepared | NativeLabels }
  | { ok: false; message: string; volumes?: number; expected: boolean };

let scan: Scan | undefined;

function openScan(): Scan {
  if (!scan) throw new ScanError('No scan is open. Choose one first.');
  return scan;
}

async function open(source: ScanSource): Promise<ScanFacts> {
  scan = undefined; // before the next one takes its memory
  scan =
    source.kind === 'file'
      ? await readScan(source.file, source.file.name, source.volume)
      : makeHead(source.options);
  const { volume, header, name } = scan;
  return {
    name,
    shape: volume.shape,
    spacing: spacingOf(volume.affine),
    axes: axisCodes(volume.affine),
    picture: niftiBytes(volume, header),
  };
}

async function label(conformed: LabelGrid): Promise<NativeLabels> {
  const { volume, header } = openScan();
  const native = toNative(conformed, volume.shape, volume.affine);
  const picture = niftiBytes(native, header);
  return {
    values: native.values,
    voxelMm3: voxelVolume(volume.affine),
    picture,
    native: await gzipped(picture),
    conformed: await gzipped(niftiBytes(conformed, header)),
  };
}

async function carryOut(order: Order): Promise<Answer> {
  try {
    if (order.do === 'open') return { ok: true, result: await open(order.source) };
    if (order.do === 'prepare') return { ok: true, result: prepare(openScan(), order.how) };
    return { ok: true, result: await label(order.conformed) };
  } catch (error) {
    const volumes = error instanceof SeveralVolumes ? error.volumes : undefined;
    return { ok: false, message: wordsFor(error), volumes, expected: error instanceof ScanError };
  }
}

function wordsFor(error: unknown): string {
  if (error instanceof RangeError) {
    return (
      `There is not enough memory for this scan (${error.message}). Close other tabs, or use a ` +
      'smaller scan.'
    );
  }
  return error instanceof Error ? error.message : String(error);
}

function transfers(answer: Answer): ArrayBuffer[] {
  if (!answer.ok) return [];
  const { result } = answer;
  const buffers: ArrayBufferLike[] = [];
  if ('picture' in result) buffers.push(result.picture.buffer);
  if ('values' in result) buffers.push(result.values.buffer);
  return buffers as ArrayBuffer[];
}

self.onmessage = async (event: MessageEvent<Order>) => {
  const answer = await carryOut(event.data);
  self.postMessage(answer, { transfer: transfers(answer) });
};
