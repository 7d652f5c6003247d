// SPDX-License-Identifier: Apache-2.0
// What chromium.mjs offers to tests.
import type { Browser } from 'playwright-core';

export interface StaticServer {
  origin: string; // 'http://127.0.0.1:1234'
  close(): Promise<void>;
}

export const CHROMIUM: string;
export const CAMERA: string[];
export function launch(
  graphics?: 'none' | 'webgl' | 'webgpu',
  flags?: string[],
): Promise<Browser>;
export function serve(
  mounts: Record<string, string | Buffer>,
  options?: { isolated?: boolean; shortNames?: boolean },
): Promise<StaticServer>;
