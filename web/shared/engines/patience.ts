// SPDX-License-Identifier: Apache-2.0
// Waiting for an engine, but not for ever.

/** Given up only because it took too long: it may still be needed. */
export class Stopped extends Error {}

/** Ends the host if it does not answer in time. */
export async function limited<T>(
  host: { end(reason: Error): void },
  answer: Promise<T>,
  seconds: number,
  why: string,
): Promise<T> {
  const stopped = new Stopped(`stopped after ${seconds.toFixed(1)} s: ${why}`);
  const timer = setTimeout(() => host.end(stopped), seconds * 1000);
  try {
    return await answer;
  } finally {
    clearTimeout(timer);
  }
}
