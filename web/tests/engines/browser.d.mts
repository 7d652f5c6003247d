// SPDX-License-Identifier: Apache-2.0
// What browser.mjs offers to tests.
import type { Browser } from 'playwright-core';

export const CHROMIUM: string;
export function buildHarness(): Promise<string>;
export function serve(
  folder: string,
  mounts: Record<string, string | Buffer>,
  isolated?: boolean,
): Promise<{ url: string; close: () => void }>;
export function launch(graphics?: 'none' | 'webgl' | 'webgpu'): Promise<Browser>;
