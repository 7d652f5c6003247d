// SPDX-License-Identifier: Apache-2.0
// A helping thread: takes part in the steps of one run after another. Knows neither the network
// nor the volume, only the memory that it is given.
import type { Layout } from './layout';
import { CONTROL, ENDED, type Kernel, instantiate, workStep } from './step';

/** What a thread is asked: to help with a run. */
export interface Call {
  module: WebAssembly.Module;
  memory: WebAssembly.Memory;
  layout: Layout;
  thread: number; // 1 and up: 0 is the caller
}

/** 'up' when it can be called, 'ready' when it waits for steps, 'ended' when the run is over. */
export type Reply = { kind: 'up' | 'ready' | 'ended' } | { kind: 'failed'; reason: string };

function helpSteps(kernel: Kernel): void {
  const { control } = kernel;
  for (let seen = 0; ; ) {
    Atomics.wait(control, CONTROL.step, seen);
    const step = Atomics.load(control, CONTROL.step); // counted from 1
    if (step === ENDED) return;
    if (step === seen) continue;
    workStep(kernel, step - 1);
    seen = step;
    Atomics.add(control, CONTROL.finished, 1);
    Atomics.notify(control, CONTROL.finished);
  }
}

/** Tells the others, who wait in memory and hear no messages, that this thread is out. */
function giveUp(control: Int32Array): void {
  Atomics.store(control, CONTROL.failed, 1);
  Atomics.add(control, CONTROL.finished, 1);
  Atomics.notify(control, CONTROL.finished);
}

const reply = (message: Reply) => self.postMessage(message);

self.onmessage = async ({ data }: MessageEvent<Call>) => {
  let kernel: Kernel | undefined;
  try {
    kernel = await instantiate(data.module, data.memory, data.layout, data.thread);
    reply({ kind: 'ready' });
    helpSteps(kernel);
    reply({ kind: 'ended' });
  } catch (error) {
    if (kernel) giveUp(kernel.control);
    reply({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
  }
};
reply({ kind: 'up' });
