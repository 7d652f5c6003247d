// SPDX-License-Identifier: Apache-2.0
// The page's side of the scan worker: hands in orders, one at a time, and gives out what comes
// back. A cancelled worker is ended at once; the next order opens the scan again in a new one.
import { Cancelled } from '../../../shared/engines/faults';
import type { Preprocessing } from '../model';
import type { LabelGrid } from './grid';
import { ScanError } from './scan-error';
import type { Answer, NativeLabels, Order, Prepared, ScanFacts, ScanSource } from './workshop';

/** A file of several volumes, of which a person has to pick one. */
export class NeedsVolume extends ScanError {
  constructor(
    message: string,
    readonly volumes: number,
  ) {
    super(message);
    this.name = 'NeedsVolume';
  }
}

export class ScanDesk {
  private worker: Worker | undefined;
  private reject: ((error: Error) => void) | undefined;
  private queue: Promise<unknown> = Promise.resolve();
  private source: ScanSource | undefined;
  private isOpen = false; // in the worker that there is

  async open(source: ScanSource): Promise<ScanFacts> {
    this.isOpen = false; // a scan that cannot be opened leaves the one before to be opened again
    const facts = (await this.order({ do: 'open', source })) as ScanFacts;
    this.source = source;
    this.isOpen = true;
    return facts;
  }

  async prepare(how: Preprocessing): Promise<Prepared> {
    await this.openAgain();
    return (await this.order({ do: 'prepare', how })) as Prepared;
  }

  async label(conformed: LabelGrid): Promise<NativeLabels> {
    await this.openAgain();
    return (await this.order({ do: 'label', conformed })) as NativeLabels;
  }

  cancel(): void {
    if (!this.reject) return;
    this.endWorker();
    this.reject(new Cancelled());
  }

  private async openAgain(): Promise<void> {
    if (this.isOpen) return;
    if (!this.source) throw new ScanError('No scan is open. Choose one first.');
    await this.open(this.source);
  }

  private order(order: Order): Promise<ScanFacts | Prepared | NativeLabels> {
    const next = this.queue.then(() => this.send(order));
    this.queue = next.catch(() => undefined);
    return next;
  }

  private send(order: Order): Promise<ScanFacts | Prepared | NativeLabels> {
    this.worker ??= new Worker(new URL('./workshop.ts', import.meta.url), { type: 'module' });
    const worker = this.worker;
    return new Promise<ScanFacts | Prepared | NativeLabels>((resolve, reject) => {
      this.reject = reject;
      worker.onmessage = (event: MessageEvent<Answer>) => {
        const answer = event.data;
        if (answer.ok) resolve(answer.result);
        else reject(errorOf(answer));
      };
      worker.onerror = (event) => {
        this.endWorker();
        reject(new Error(event.message || 'The worker that reads scans ended unexpectedly.'));
      };
      worker.postMessage(order);
    }).finally(() => {
      this.reject = undefined;
    });
  }

  private endWorker(): void {
    this.worker?.terminate();
    this.worker = undefined;
    this.isOpen = false;
  }
}

function errorOf(answer: Extract<Answer, { ok: false }>): Error {
  if (answer.volumes !== undefined) return new NeedsVolume(answer.message, answer.volumes);
  return answer.expected ? new ScanError(answer.message) : new Error(answer.message);
}
