// SPDX-License-Identifier: Apache-2.0
// Runs of training and their curves, read on while a run goes on.
import { useEffect, useState } from 'preact/hooks';
import { api } from '../api/client';
import { listOf } from './jobs';

export interface Run {
  id: string;
  title: string;
  family: string;
  job: string | null;
  state: string;
  created: string;
}

/** A line of metrics.jsonl. */
export interface MetricRow {
  kind: string;
  step: number;
  epoch?: number;
  loss?: number | null;
  lr?: number;
  metrics?: Record<string, number | null>;
  scores?: Record<string, number | null>;
}

export const loadRuns = async (): Promise<Run[]> => listOf<Run>(await api.get('api/runs'), 'runs');

interface Rows {
  rows: MetricRow[];
  next: number;
}

const pace = 2000; // ms between two looks at a run that goes on
const most = 5000; // rows of one answer

/** Reads until there is no more, and again as long as it goes on. */
async function follow(
  run: string,
  goesOn: () => boolean,
  take: (rows: MetricRow[]) => void,
): Promise<void> {
  let next = 0;
  do {
    const path = `api/runs/${encodeURIComponent(run)}/metrics?from=${next}`;
    const answer = await api.get<Rows>(path);
    next = answer.next;
    if (answer.rows.length > 0) take(answer.rows);
    if (answer.rows.length >= most) continue;
    await new Promise((resolve) => setTimeout(resolve, pace));
  } while (goesOn());
}

/** The rows of a run by its id. */
export function useRows(run: string | undefined, isLive: boolean): MetricRow[] {
  const [rows, setRows] = useState<MetricRow[]>([]);
  useEffect(() => {
    setRows([]);
    if (!run) return undefined;
    let isMine = true;
    const take = (more: MetricRow[]) => isMine && setRows((before) => [...before, ...more]);
    follow(run, () => isMine && isLive, take).catch(() => undefined); // the banner tells
    return () => {
      isMine = false;
    };
  }, [run, isLive]);
  return rows;
}

/** The run that a job makes, once there is one. */
export function useRun(job: string, isLive: boolean): { run?: Run; rows: MetricRow[] } {
  const [run, setRun] = useState<Run | undefined>(undefined);
  useEffect(() => {
    let isMine = true;
    const look = async () => {
      const found = (await loadRuns()).find((one) => one.job === job);
      if (!isMine) return;
      if (found) setRun(found);
      else if (isLive) setTimeout(() => isMine && void look().catch(() => undefined), pace);
    };
    look().catch(() => undefined);
    return () => {
      isMine = false;
    };
  }, [job, isLive]);
  return { run, rows: useRows(run?.id, isLive) };
}

export interface Point {
  x: number;
  y: number;
}

/** The values of one curve: of a step, of its metrics or of a validation's scores. */
export function curveOf(rows: readonly MetricRow[], name: string): Point[] {
  const points: Point[] = [];
  for (const row of rows) {
    const own = name === 'loss' || name === 'lr' ? row[name] : undefined;
    const value = own ?? row.metrics?.[name] ?? row.scores?.[name];
    if (typeof value === 'number' && Number.isFinite(value)) points.push({ x: row.step, y: value });
  }
  return points;
}

export function curveNames(rows: readonly MetricRow[]): string[] {
  const names = new Set<string>();
  for (const row of rows) {
    if (typeof row.loss === 'number') names.add('loss');
    for (const key of Object.keys(row.metrics ?? {})) names.add(key);
    for (const key of Object.keys(row.scores ?? {})) names.add(key);
  }
  if (rows.some(({ lr }) => typeof lr === 'number')) names.add('lr');
  return [...names];
}

/** At most so many points, each the mean of its neighbours: a curve of 10⁵ steps is drawn as fast. */
export function thinned(points: readonly Point[], count: number): Point[] {
  if (points.length <= count) return [...points];
  return Array.from({ length: count }, (_, i) => {
    const begin = Math.floor((i * points.length) / count);
    const part = points.slice(begin, Math.floor(((i + 1) * points.length) / count));
    const sum = part.reduce((total, { x, y }) => ({ x: total.x + x, y: total.y + y }), {
      x: 0,
      y: 0,
    });
    return { x: sum.x / part.length, y: sum.y / part.length };
  });
}
