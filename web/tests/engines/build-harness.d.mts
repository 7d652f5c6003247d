// SPDX-License-Identifier: Apache-2.0
// What build-harness.mjs offers to tests.
export function buildHarness(harness?: URL): Promise<string>;
