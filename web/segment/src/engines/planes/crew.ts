// SPDX-License-Identifier: Apache-2.0
// The engine's own thread and its helpers, which work through the steps of a run together. A
// helper that fails or falls silent ends the run with its reason; nobody waits for ever.
import type { Layout } from './layout';
import { CONTROL, ENDED, type Kernel, instantiate, workStep } from './step';
import type { Call, Reply } from './thread';

const PATIENCE = 30; // seconds without a sign of life from a helper

/** A thread that runs thread.ts, however this place makes threads. */
export interface Port {
  post(call: Call): void;
  listen(reply: (message: Reply) => void, fail: (reason: string) => void): void;
  end(): void;
}

class Helper {
  private heard: Reply[] = [];
  private wake = () => {};
  private lost = false;
  private working = false;

  constructor(private readonly port: Port) {
    const hear = (message: Reply) => {
      this.heard.push(message);
      this.wake();
    };
    const fail = (reason: string) => {
      this.lost = true;
      hear({ kind: 'failed', reason });
    };
    port.listen(hear, fail);
  }

  /** Waits for the next message, which must be this one. */
  async expect(kind: 'up' | 'ready' | 'ended'): Promise<void> {
    if (this.heard.length === 0) await this.message();
    const reply = this.heard.shift();
    if (reply?.kind === kind) return;
    if (!reply) this.lost = true;
    const reason = reply?.kind === 'failed' ? reply.reason : `no answer for ${PATIENCE} s`;
    throw new Error(`A thread failed: ${reason}`);
  }

  async call(call: Call): Promise<void> {
    if (this.lost) throw new Error('A thread is gone: make the engine anew.');
    this.port.post(call);
    await this.expect('ready');
    this.working = true;
  }

  async over(): Promise<void> {
    if (!this.working) return;
    this.working = false;
    await this.expect('ended');
  }

  end(): void {
    this.lost = true;
    this.port.end();
  }

  private message(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, PATIENCE * 1000);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Waits for all, whatever becomes of them, before it rejects for one. */
async function all(promises: Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(promises)) {
    if (result.status === 'rejected') throw result.reason;
  }
}

export class Crew {
  private kernel: Kernel | undefined;

  private constructor(private readonly helpers: Helper[]) {}

  /** Alone where no helper can be had. */
  static async start(threads: number, makePort: () => Port): Promise<Crew> {
    const helpers: Helper[] = [];
    try {
      while (helpers.length + 1 < threads) helpers.push(new Helper(makePort()));
      await Promise.all(helpers.map((helper) => helper.expect('up')));
      return new Crew(helpers);
    } catch {
      for (const helper of helpers) helper.end();
      return new Crew([]);
    }
  }

  get threads(): number {
    return this.helpers.length + 1;
  }

  /** Calls everybody to a run over this memory. */
  async begin(module: WebAssembly.Module, memory: WebAssembly.Memory, layout: Layout) {
    this.kernel = await instantiate(module, memory, layout, 0);
    await all(
      this.helpers.map((helper, i) => helper.call({ module, memory, layout, thread: i + 1 })),
    );
  }

  /** Throws where a helper failed or fell silent; end() then knows the reason. */
  step(step: number): void {
    if (!this.kernel) throw new Error('Steps belong between begin() and end().');
    const { control } = this.kernel;
    Atomics.store(control, CONTROL.next, 0);
    Atomics.store(control, CONTROL.finished, 0);
    Atomics.store(control, CONTROL.step, step + 1);
    Atomics.notify(control, CONTROL.step);
    workStep(this.kernel, step);
    if (!this.allFinished(control)) throw new Error('A thread did not finish its work.');
  }

  private allFinished(control: Int32Array): boolean {
    for (;;) {
      const finished = Atomics.load(control, CONTROL.finished);
      if (finished >= this.helpers.length) return Atomics.load(control, CONTROL.failed) === 0;
      const waited = Atomics.wait(control, CONTROL.finished, finished, PATIENCE * 1000);
      if (waited === 'timed-out') return false;
    }
  }

  /** Sends everybody home; rejects where a helper did not come through. */
  async end(): Promise<void> {
    if (!this.kernel) return;
    const { control } = this.kernel;
    this.kernel = undefined;
    Atomics.store(control, CONTROL.step, ENDED);
    Atomics.notify(control, CONTROL.step);
    await all(this.helpers.map((helper) => helper.over()));
  }

  dispose(): void {
    for (const helper of this.helpers) helper.end();
  }
}
