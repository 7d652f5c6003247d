// SPDX-License-Identifier: Apache-2.0
// What is known of the server, and whether it is there.
import { signal } from '@preact/signals';
import { ApiError, api } from '../api/client';
import type { LineState } from '../api/event-stream';
import { type Line, openLine } from '../api/shared-line';
import type { Activity, Command, Item, Job, Progress, Session } from '../api/types';
import { jobStore, listOf, refreshJobs } from './jobs';
import { collections, tookLibraryEvent } from './library';
import { loadModels } from './models';

export const session = signal<Session | undefined>(undefined);
export const commands = signal<Command[]>([]);
export const connection = signal<LineState>('connecting');
export const activity = signal<Activity | undefined>(undefined);
export const needsToken = signal(false);
export const startFault = signal<string>('');

let line: Line | undefined;

/** Everything that may have changed while the server was away. */
async function catchUp(): Promise<void> {
  const loaded = Object.values(collections).filter(({ isLoaded }) => isLoaded.value);
  await Promise.all([
    api.get<Session>('api/session').then((value) => (session.value = value)),
    refreshJobs(),
    loadModels(),
    ...loaded.map((collection) => collection.load()),
  ]);
  startFault.value = '';
}

/** Failures are told once, by the banner or by the page that asks for the token. */
async function tryToCatchUp(): Promise<void> {
  try {
    await catchUp();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.kind === 'auth') needsToken.value = true;
    else if (error.kind !== 'offline') startFault.value = error.message;
  }
}

const handlers: Record<string, (data: unknown) => void> = {
  job: (data) => {
    const job = data as Job & { deleted?: boolean };
    if (job.deleted) return jobStore.remove(job.id);
    jobStore.put(job);
    const makesModels = ['train', 'demo', 'pull', 'data'].includes(job.verb);
    if (makesModels && job.state === 'succeeded') void loadModels().catch(() => undefined);
  },
  progress: (data) => {
    const { job, progress } = data as { job: string; progress: Progress };
    jobStore.progress(job, progress);
  },
  library: (data) => tookLibraryEvent(data as Item | { id: string; deleted: true }),
  machine: (data) => {
    activity.value = data as Activity;
  },
  reset: () => void tryToCatchUp(),
  models: () => void loadModels().catch(() => undefined),
};

function changed(state: LineState): void {
  const before = connection.value;
  connection.value = state;
  if (state === 'refused') needsToken.value = true;
  if (state === 'open' && before !== 'open') void tryToCatchUp();
}

export function connect(): void {
  line = openLine({
    url: 'api/events',
    changed,
    take: ({ event, data }) => handlers[event]?.(JSON.parse(data)),
  });
  addEventListener('online', () => line?.hurry());
  addEventListener('pagehide', () => line?.close());
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
  void tryToCatchUp();
  api
    .get<Command[]>('api/commands')
    .then((answer) => (commands.value = listOf<Command>(answer, 'commands')))
    .catch(() => undefined); // asked again when a form needs it
}

export const reconnectNow = () => line?.hurry();

export function commandOf(verb: string, family: string, name = ''): Command | undefined {
  return commands.value.find(
    (command) =>
      command.verb === verb && command.family === family && (command.name ?? '') === name,
  );
}
