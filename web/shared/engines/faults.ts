// SPDX-License-Identifier: Apache-2.0
// What runtimes throw when memory ends or a graphics device goes, in words for people.

/** An engine that gave up, with the reason for people. */
export class EngineFailure extends Error {
  constructor(
    reason: string,
    readonly memory: boolean, // less of it might do
  ) {
    super(reason);
    this.name = 'EngineFailure';
  }
}

/** A person wanted something else. */
export class Cancelled extends Error {
  constructor() {
    super('Cancelled.');
    this.name = 'Cancelled';
  }
}

const MEMORY = [
  /out of memory/i,
  /allocation fail/i,
  /array buffer allocation/i,
  /invalid (typed )?array length/i,
  /bad_alloc/i,
  /integer overflow/i, // sizes beyond what 32 bits count
  /failed to allocate/i,
  /cannot enlarge memory/i,
  /memory access out of bounds/i, // what a heap that could not grow looks like from inside
  /exceeds the max(imum)? (buffer|storage)/i,
  /texture size .* greater than/i,
];
const DEVICE = [/context ?(was |is )?lost/i, /device (was |is )?(lost|destroyed)/i, /CONTEXT_LOST/];
const ABORT = [/\babort(ed)?\b/i, /unreachable/i, /RuntimeError/];

export function failureOf(error: unknown): EngineFailure {
  if (error instanceof EngineFailure) return error;
  const said = messageOf(error);
  if (MEMORY.some((pattern) => pattern.test(said))) {
    return new EngineFailure(`the memory did not suffice (${said})`, true);
  }
  if (DEVICE.some((pattern) => pattern.test(said))) {
    return new EngineFailure(`the browser took the graphics device away (${said})`, false);
  }
  if (ABORT.some((pattern) => pattern.test(said))) {
    return new EngineFailure(`the runtime broke off (${said})`, false);
  }
  return new EngineFailure(said, false);
}

export function messageOf(error: unknown): string {
  if (error instanceof Error) {
    return error.name === 'RuntimeError' ? `RuntimeError: ${error.message}` : error.message;
  }
  if (typeof error === 'object' && error !== null && 'message' in error) {
    return String(error.message);
  }
  if (typeof error === 'number') return `error ${error}`; // a C++ exception leaves only a pointer
  return String(error);
}
