// SPDX-License-Identifier: Apache-2.0
// What the page uses of the engines.
import { LookRunner } from './runner';
import { WorkerHost } from './worker-host';

export { Cancelled } from '../../../shared/engines/faults';
export { type EngineId, type Look, engineIds, engineNames } from './engine';
export type { Choice, LookRunner, Verdict } from './runner';

export function createRunner(): LookRunner {
  return new LookRunner((id) => new WorkerHost(id));
}
