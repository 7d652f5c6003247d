// SPDX-License-Identifier: Apache-2.0
// What the server's answers are made of. docs/reference/api.yaml says the same in full.

export type FamilyName = 'acestep' | 'meshnet' | 'msinet' | 'codelm' | 'trm';

export interface Session {
  version: string;
  families: { name: string; summary: string }[];
  device: { kind: string; name: string };
  has: { pull: boolean; openai?: boolean };
  limits?: { upload_bytes: number };
}

export type JobState = 'queued' | 'running' | 'paused' | 'succeeded' | 'failed' | 'cancelled';

export interface Progress {
  stage: string;
  step: number;
  steps: number | null;
  fraction: number | null;
  eta_s: number | null;
  memory_bytes: number | null;
  note?: string;
}

export type OptionValue =
  string | number | boolean | (string | number)[] | { text: string; name: string };
export type Options = Record<string, OptionValue>;
/** A reference, a short text as a file, or a folder made of several references. */
export type Input = string | { text: string; name: string } | { folder: string[] };

export interface JobRequest {
  verb: string;
  family?: string;
  name?: string;
  inputs?: Input[];
  model?: string;
  options?: Options;
  title?: string;
  priority?: number;
}

export interface Job {
  id: string;
  verb: string;
  family: string;
  name?: string;
  title: string;
  request: JobRequest;
  command?: string;
  state: JobState;
  stopping?: 'cancel' | 'pause' | null;
  waiting?: string | null;
  can_pause?: boolean;
  position: number | null;
  priority: number;
  progress: Progress | null;
  error: { kind: string; message: string } | null;
  result: string | null;
  attempts: number;
  created: string;
  started: string | null;
  ended: string | null;
}

export const itemKinds = [
  'song',
  'scan',
  'saliency',
  'code',
  'puzzle',
  'adapter',
  'model',
  'data',
  'export',
  'scores',
] as const;
export type ItemKind = (typeof itemKinds)[number];

export interface ItemFile {
  name: string;
  type: string;
  bytes: number;
  url: string;
  ref: string;
}

export interface Item {
  id: string;
  job: string | null;
  kind: ItemKind;
  family?: string;
  title: string;
  created: string;
  liked: boolean;
  files: ItemFile[];
  request: JobRequest;
  outcome: unknown; // null in lists
}

export interface Upload {
  ref: string;
  name: string;
  type: string;
  bytes: number;
}

export interface Playlist {
  id: string;
  name: string;
  items: string[];
}

export interface Preset {
  name: string;
  source: 'shipped' | 'own';
  kind?: string;
  label?: string;
  settings: Options;
}

export interface Model {
  ref: string;
  family: string;
  name: string;
  path_shown: string;
  bytes: number;
  source: 'shipped' | 'run' | 'pulled' | 'folder';
  about?: Record<string, unknown>;
}

export interface CommandOption {
  flag: string;
  key: string;
  type: string; // empty: a switch
  help: string;
  group: string;
  reference?: boolean; // the value names a file
}

export interface Command {
  verb: string;
  family: string;
  name: string;
  summary: string;
  inputs: string;
  needs_model: boolean;
  options: CommandOption[];
}

export interface Activity {
  cpu: { busy: number; cores: number };
  memory: { used: number; total: number };
  gpus: { name: string; busy: number; memory_used: number; memory_total: number }[];
}
