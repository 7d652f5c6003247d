// SPDX-License-Identifier: Apache-2.0
// What the page uses of the engines.
import type { Runner } from './choice';
import { EngineRunner } from './runner';
import { WorkerHost } from './worker-host';

export { Cancelled } from '../../../shared/engines/faults';
export type { Choice, ChooseOptions, Runner, Segmented, Verdict } from './choice';
export type { EngineId, LoadedModel, Progress, Volume } from './engine';

export function createRunner(): Runner {
  return new EngineRunner((id) => new WorkerHost(id));
}
