// SPDX-License-Identifier: Apache-2.0
// What `ubique run meshnet --json` says about a scan.
import type { Item, ItemFile } from '../api/types';
import { fileOfPath } from '../state/library';

export interface Volume {
  label: number;
  name: string;
  voxels: number;
  mm3: number;
}

export interface Segmented {
  scan: string;
  labels: ItemFile | undefined;
  error: string;
  warnings: string[];
  volumes: Volume[];
}

interface Row {
  scan: string;
  labels: string | null;
  error: string | null;
  warnings?: string[];
  volumes?: Volume[];
}

export function segmentedOf(item: Item): Segmented | undefined {
  const rows = (item.outcome as { scans?: Row[] } | null)?.scans;
  const row = rows?.[0];
  if (!row) return undefined;
  return {
    scan: row.scan,
    labels: row.labels ? fileOfPath(item, row.labels) : undefined,
    error: row.error ?? '',
    warnings: row.warnings ?? [],
    volumes: row.volumes ?? [],
  };
}

export function volumesCsv(volumes: readonly Volume[]): string {
  const quoted = (text: string) =>
    /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const rows = volumes.map(({ label, name, voxels, mm3 }) =>
    [label, quoted(name), voxels, mm3.toFixed(3)].join(','),
  );
  return ['label,name,voxels,mm3', ...rows, ''].join('\n');
}
