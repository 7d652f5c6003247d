// SPDX-License-Identifier: Apache-2.0
// Server-sent events from text that comes in pieces, as the HTML standard says they are read.

export interface ServerEvent {
  id: string; // the last one given, also by earlier events
  event: string;
  data: string;
}

export class EventParser {
  private rest = '';
  private data: string[] = [];
  private event = '';
  lastId = '';
  retry: number | undefined; // milliseconds that the server asked for

  constructor(private readonly take: (event: ServerEvent) => void) {}

  push(text: string): void {
    this.rest += text;
    for (;;) {
      const end = this.rest.search(/\r|\n/);
      if (end < 0) return;
      const isPair = this.rest[end] === '\r' && this.rest[end + 1] === '\n';
      if (this.rest[end] === '\r' && end + 1 === this.rest.length) return; // \n may follow
      this.line(this.rest.slice(0, end));
      this.rest = this.rest.slice(end + (isPair ? 2 : 1));
    }
  }

  private line(line: string): void {
    if (line === '') return this.dispatch();
    if (line.startsWith(':')) return; // keeps the connection alive
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') this.data.push(value);
    else if (field === 'event') this.event = value;
    else if (field === 'id' && !value.includes('\0')) this.lastId = value;
    else if (field === 'retry' && /^\d+$/.test(value)) this.retry = Number(value);
  }

  private dispatch(): void {
    const { data, event } = this;
    this.data = [];
    this.event = '';
    if (data.length === 0) return;
    this.take({ id: this.lastId, event: event || 'message', data: data.join('\n') });
  }
}

/** Hands over the events of an answer until it ends. `alive` is called whenever bytes come. */
export async function readEvents(
  response: Response,
  parser: EventParser,
  alive: () => void = () => undefined,
): Promise<void> {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    alive();
    parser.push(value);
  }
}
