// SPDX-License-Identifier: Apache-2.0
// The doctor's verdicts by operation.
import type { Verdict } from './types';

export interface Group {
  op: string;
  counts: Record<Verdict['outcome'], number>;
  faults: Verdict[];
}

/** One row per operation; what did not pass is named. */
export function groupsOf(verdicts: readonly Verdict[]): Group[] {
  const groups = new Map<string, Group>();
  for (const verdict of verdicts) {
    const group = groups.get(verdict.op) ?? {
      op: verdict.op,
      counts: { pass: 0, fail: 0, refused: 0, skipped: 0 },
      faults: [],
    };
    group.counts[verdict.outcome] += 1;
    if (verdict.outcome === 'fail') group.faults.push(verdict);
    groups.set(verdict.op, group);
  }
  return [...groups.values()].sort(
    (a, b) => b.counts.fail - a.counts.fail || a.op.localeCompare(b.op),
  );
}
