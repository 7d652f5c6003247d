// SPDX-License-Identifier: Apache-2.0
// All tabs of a browser share one event stream: browsers allow six connections to a server, and
// every tab with a stream of its own would take one. The tab that holds a lock has the stream and
// tells the others; when it closes, the next one goes on from the last event. Where there are no
// locks (a page from another machine without https), each tab has its own.
import type { ServerEvent } from './event-parser';
import { EventStream, type LineState } from './event-stream';

export interface Line {
  close(): void;
  hurry(): void;
}

type Message =
  | { kind: 'event'; event: ServerEvent }
  | { kind: 'state'; state: LineState }
  | { kind: 'hello' }
  | { kind: 'hurry' };

export interface LineOptions {
  url: string;
  take: (event: ServerEvent) => void;
  changed: (state: LineState) => void;
}

class SharedLine implements Line {
  private readonly channel: BroadcastChannel;
  private stream: EventStream | undefined;
  private state: LineState = 'connecting';
  private lastId = '';
  private leave: () => void = () => undefined;
  private readonly giveUp = new AbortController();

  constructor(
    private readonly options: LineOptions,
    name: string,
  ) {
    this.channel = new BroadcastChannel(name);
    this.channel.onmessage = ({ data }: MessageEvent<Message>) => this.heard(data);
    this.tell({ kind: 'hello' });
    navigator.locks
      .request(name, { signal: this.giveUp.signal }, () => this.lead())
      .catch(() => undefined); // closed before it was our turn
  }

  close(): void {
    this.giveUp.abort();
    this.stream?.close();
    this.leave();
    this.channel.close();
  }

  hurry(): void {
    if (this.stream) this.stream.hurry();
    else this.tell({ kind: 'hurry' });
  }

  private tell(message: Message): void {
    this.channel.postMessage(message);
  }

  private heard(message: Message): void {
    if (message.kind === 'hello') {
      if (this.stream) this.tell({ kind: 'state', state: this.state });
    } else if (message.kind === 'hurry') {
      this.stream?.hurry();
    } else if (message.kind === 'state') {
      this.become(message.state);
    } else {
      this.took(message.event);
    }
  }

  private become(state: LineState): void {
    this.state = state;
    this.options.changed(state);
  }

  private took(event: ServerEvent): void {
    this.lastId = event.id;
    this.options.take(event);
  }

  private lead(): Promise<void> {
    this.stream = new EventStream({
      url: this.options.url,
      lastId: this.lastId,
      take: (event) => {
        this.took(event);
        this.tell({ kind: 'event', event });
      },
      changed: (state) => {
        this.become(state);
        this.tell({ kind: 'state', state });
      },
    });
    return new Promise((resolve) => (this.leave = resolve));
  }
}

export function openLine(options: LineOptions): Line {
  const canShare = 'locks' in navigator && 'BroadcastChannel' in globalThis;
  return canShare ? new SharedLine(options, `ubique ${options.url}`) : new EventStream(options);
}
