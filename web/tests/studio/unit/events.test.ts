// SPDX-License-Identifier: Apache-2.0
// Server-sent events: reading them, and a stream that goes on where it was cut.
import { describe, expect, test } from 'vitest';
import { EventParser, type ServerEvent } from '../../../studio/src/api/event-parser';
import { EventStream, type LineState } from '../../../studio/src/api/event-stream';

function parsed(...pieces: string[]): { events: ServerEvent[]; parser: EventParser } {
  const events: ServerEvent[] = [];
  const parser = new EventParser((event) => events.push(event));
  for (const piece of pieces) parser.push(piece);
  return { events, parser };
}

describe('event text', () => {
  test('is read wherever it is cut', () => {
    const text = 'id: 7\nevent: job\ndata: {"a":\ndata: 1}\n\n: still here\n\ndata: x\n\n';
    const whole = parsed(text).events;
    expect(whole).toEqual([
      { id: '7', event: 'job', data: '{"a":\n1}' },
      { id: '7', event: 'message', data: 'x' },
    ]);
    for (let at = 1; at < text.length; ++at) {
      expect(parsed(text.slice(0, at), text.slice(at)).events).toEqual(whole);
    }
  });

  test('may end its lines in three ways', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const text = ['data: a', '', 'data: b', '', ''].join(end);
      expect(parsed(...text, '\n').events.map(({ data }) => data)).toEqual(['a', 'b']);
    }
  });

  test('without data is no event, and unknown fields mean nothing', () => {
    const { events, parser } = parsed('event: job\n\nretry: 250\nretry: soon\nname: x\ndata:y\n\n');
    expect(events).toEqual([{ id: '', event: 'message', data: 'y' }]);
    expect(parser.retry).toBe(250);
  });

  test('that is not complete is not handed over', () => {
    expect(parsed('data: half\n').events).toEqual([]);
  });
});

interface Asked {
  after: string | null;
}

/** A server that gives each connection the next of these answers; afterwards it waits. */
function fakeServer(answers: (string | number)[]): { fetch: typeof fetch; asked: Asked[] } {
  const asked: Asked[] = [];
  const fake = (_: unknown, init?: RequestInit): Promise<Response> => {
    asked.push({ after: new Headers(init?.headers).get('Last-Event-ID') });
    const answer = answers[asked.length - 1];
    if (answer === undefined) {
      return new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(new Error('ended')));
      });
    }
    if (typeof answer === 'number') return Promise.resolve(new Response('', { status: answer }));
    if (answer === 'broken') return Promise.reject(new TypeError('network'));
    return Promise.resolve(new Response(answer));
  };
  return { fetch: fake as typeof fetch, asked };
}

async function followed(answers: (string | number)[], connections: number) {
  const { fetch, asked } = fakeServer(answers);
  const taken: string[] = [];
  const states: LineState[] = [];
  const stream = new EventStream({
    url: 'events',
    fetch,
    firstWait: 1,
    longestWait: 2,
    take: ({ data }) => taken.push(data),
    changed: (state) => states.push(state),
  });
  while (asked.length < connections) await new Promise((resolve) => setTimeout(resolve, 1));
  stream.close();
  return { taken, states, asked: asked.map(({ after }) => after) };
}

describe('an event stream', () => {
  test('asks for what came after the last event that it saw', async () => {
    const { taken, asked, states } = await followed(
      ['id: 1\ndata: a\n\nid: 2\ndata: b\n\nid: 3\ndata: cut', 'broken', 503, 'id: 3\ndata: c\n\n'],
      5,
    );
    expect(taken).toEqual(['a', 'b', 'c']);
    expect(asked).toEqual([null, '2', '2', '2', '3']);
    expect(states.slice(0, 4)).toEqual(['connecting', 'open', 'lost', 'lost']);
  });

  test('keeps its place over events that have no id', async () => {
    const { asked } = await followed(['id: 9\ndata: a\n\n: beat\n\ndata: machine\n\n'], 2);
    expect(asked).toEqual([null, '9']);
  });

  test('says when the server wants a token', async () => {
    expect((await followed([401], 2)).states).toContain('refused');
  });

  test('gives up a connection on which nothing comes', async () => {
    let aborted = 0;
    const silent = (_: unknown, init?: RequestInit) => {
      const body = new ReadableStream({
        start: (controller) =>
          init?.signal?.addEventListener('abort', () => {
            aborted += 1;
            controller.error(new Error('aborted'));
          }),
      });
      return Promise.resolve(new Response(body));
    };
    const stream = new EventStream({
      url: 'events',
      fetch: silent as typeof fetch,
      silence: 5,
      firstWait: 1,
      take: () => undefined,
      changed: () => undefined,
    });
    while (aborted < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    stream.close();
    expect(aborted).toBeGreaterThanOrEqual(2);
  });
});
