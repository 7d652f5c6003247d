// SPDX-License-Identifier: Apache-2.0
// What info, doctor and plan print as JSON, as far as it is shown.

export interface DeviceFacts {
  name: string;
  label: string;
  total_bytes: number;
  free_bytes: number;
  budget_bytes: number;
  budget_reason: string;
  cores: number;
  native_dtypes: string[];
  instruction_sets: string[];
  memory_gbps: number;
  driver: string;
}

export interface Info {
  torch_version: string;
  os_version: string;
  cpu_count: number;
  device: DeviceFacts;
  attention_backend: string;
  candidates: { backend: string; functional: boolean; reason: string; devices: DeviceFacts[] }[];
}

export interface Verdict {
  id: string;
  op: string;
  dtype: string;
  layout: string;
  gradient: boolean;
  outcome: 'pass' | 'fail' | 'refused' | 'skipped';
  error: number | null;
  tolerance: number | null;
  note?: string;
}

export interface Doctor {
  label: string;
  passed: number;
  failed: number;
  refused: number;
  skipped: number;
  advice: string[];
  seconds: number;
  verdicts: Verdict[];
}

export interface Profile {
  id: string;
  name: string;
  total_bytes: number;
}

export interface Chosen {
  value: unknown;
  reason: string;
  rejected: { option: string; why: string }[];
}

export interface Plan {
  machine: string;
  choices: Record<string, Chosen>;
  memory: Record<string, number | boolean | string> & { fits: boolean; budget_reason: string };
  workarounds: { id: string; why: string }[];
}

export interface Attempt {
  machine: string;
  possible: boolean;
  error: string | null;
  plan: Plan | null;
}

export interface Plans {
  needs: string;
  mode: string;
  plans: Attempt[];
}
