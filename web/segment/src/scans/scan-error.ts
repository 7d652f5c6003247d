// SPDX-License-Identifier: Apache-2.0
// A scan that cannot be used: what was wrong, what was expected, what to do. Shown to people as is.

export class ScanError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ScanError';
  }
}

export function check(holds: boolean, message: () => string): void {
  if (!holds) throw new ScanError(message());
}
