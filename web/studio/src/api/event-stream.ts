// SPDX-License-Identifier: Apache-2.0
// One stream of server-sent events that outlives the connection: after a break it asks for what came
// since the last event that it saw. A connection on which nothing comes for long counts as broken.
import { EventParser, type ServerEvent, readEvents } from './event-parser';

export type LineState = 'connecting' | 'open' | 'lost' | 'refused';

export interface EventStreamOptions {
  url: string;
  take: (event: ServerEvent) => void;
  changed: (state: LineState) => void;
  lastId?: string;
  fetch?: typeof fetch;
  firstWait?: number; // ms until the second attempt; it doubles
  longestWait?: number;
  silence?: number; // ms without a byte, heartbeats included, after which a connection is given up
}

export class EventStream {
  private readonly options: Required<EventStreamOptions>;
  private abort = new AbortController();
  private ended = false;
  private wake: () => void = () => undefined;
  private failures = 0;
  lastId: string;

  constructor(options: EventStreamOptions) {
    this.options = {
      lastId: '',
      fetch: (...args) => fetch(...args),
      firstWait: 500,
      longestWait: 8000,
      silence: 45_000,
      ...options,
    };
    this.lastId = this.options.lastId;
    void this.run();
  }

  close(): void {
    this.ended = true;
    this.abort.abort();
    this.wake();
  }

  /** Does not wait any longer before the next attempt. */
  hurry(): void {
    this.wake();
  }

  private async run(): Promise<void> {
    const { changed, firstWait, longestWait } = this.options;
    changed('connecting');
    let asked: number | undefined;
    while (!this.ended) {
      const parser = new EventParser((event) => this.took(event));
      parser.lastId = this.lastId;
      await this.connection(parser);
      if (this.ended) return;
      asked = parser.retry ?? asked;
      const wait = Math.min(longestWait, (asked ?? firstWait) * 2 ** Math.min(this.failures, 10));
      this.failures += 1;
      await this.pause(wait);
    }
  }

  private took(event: ServerEvent): void {
    this.lastId = event.id;
    this.options.take(event);
  }

  private async connection(parser: EventParser): Promise<void> {
    const { url, fetch, changed, silence } = this.options;
    this.abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const alive = () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.abort.abort(), silence);
    };
    alive();
    try {
      const headers: Record<string, string> = { Accept: 'text/event-stream' };
      if (this.lastId) headers['Last-Event-ID'] = this.lastId;
      const response = await fetch(url, { headers, signal: this.abort.signal, cache: 'no-store' });
      if (response.status === 401 || response.status === 403) return changed('refused');
      if (!response.ok) return changed('lost');
      this.failures = 0;
      changed('open');
      await readEvents(response, parser, alive);
      if (!this.ended) changed('lost');
    } catch {
      if (!this.ended) changed('lost');
    } finally {
      clearTimeout(timer);
      this.abort.abort();
    }
  }

  private pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
