// SPDX-License-Identifier: Apache-2.0
// Small logic of the other rooms: addresses, boxes, maps, prompts, replies, curves, errors.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ApiError, api, plainMessage, withQuery } from '../../../studio/src/api/client';
import { streamCompletion } from '../../../studio/src/api/completions';
import { segmentedOf, volumesCsv } from '../../../studio/src/brain/outcome';
import { partsOf } from '../../../studio/src/code/chat-text';
import { firstWord, leftOf } from '../../../studio/src/code/ghost';
import { lastLines, promptOf, trimmedProposal } from '../../../studio/src/code/prompt';
import { boxBetween, boxesText, freeName, parseBoxes } from '../../../studio/src/gaze/boxes';
import { parseNpy } from '../../../studio/src/gaze/npy';
import { groupsOf } from '../../../studio/src/machine/groups';
import { parseRoute, routeText } from '../../../studio/src/state/route';
import { curveNames, curveOf, thinned } from '../../../studio/src/state/runs';

afterEach(() => vi.unstubAllGlobals());

describe('an address', () => {
  test('names a room and what is open in it', () => {
    const route = { room: 'music' as const, params: { task: 'repaint', q: 'a & b=c' } };
    expect(parseRoute(routeText(route))).toEqual(route);
    expect(parseRoute('#/puzzles?kind=maze')).toEqual({
      room: 'puzzles',
      params: { kind: 'maze' },
    });
  });
  test('of nowhere is the first room', () => {
    for (const hash of ['', '#', '#/nowhere', '#/../etc?x=1'])
      expect(parseRoute(hash).room).toBe('music');
  });
});

describe('errors of the server', () => {
  const answer = (body: string, status: number) =>
    vi.stubGlobal('fetch', () => Promise.resolve(new Response(body, { status })));
  test('keep their kind and lose the place in the program', async () => {
    answer(
      '{"error":{"kind":"input","message":"[io.nifti] x is no scan; got y, expected z."}}',
      422,
    );
    const error = await api.get('api/x').catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ kind: 'input', status: 422 });
    expect(plainMessage((error as Error).message)).toBe('x is no scan; got y, expected z.');
  });
  test('are told too where something else answers', async () => {
    answer('<html>Bad gateway</html>', 502);
    await expect(api.get('api/x')).rejects.toMatchObject({
      kind: 'internal',
      message: 'The server answered 502.',
    });
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('failed')));
    await expect(api.get('api/x')).rejects.toMatchObject({ kind: 'offline' });
  });
  test('a request that changes something says so', async () => {
    const sent: RequestInit[] = [];
    vi.stubGlobal('fetch', (_: string, init: RequestInit) => {
      sent.push(init);
      return Promise.resolve(new Response('{}'));
    });
    await api.get('api/x');
    await api.delete('api/x');
    expect(sent.map(({ headers }) => new Headers(headers).get('X-Ubique'))).toEqual([null, '1']);
  });
  test('queries leave out what is empty', () => {
    expect(
      withQuery('api/library', { kind: 'song', q: 'a&b', liked: false, after: undefined }),
    ).toBe('api/library?kind=song&q=a%26b');
  });
});

describe('a completion', () => {
  const streamOf = (text: string) =>
    vi.stubGlobal('fetch', () => Promise.resolve(new Response(text)));
  test('comes piece by piece', async () => {
    streamOf(
      'data: {"choices":[{"text":"a"}]}\n\ndata: {"choices":[{"text":"b","finish_reason":"stop"}]}\n\n' +
        'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\ndata: [DONE]\n\n',
    );
    const pieces: string[] = [];
    const done = await streamCompletion({ model: 'm', prompt: 'p' }, (text) => pieces.push(text));
    expect(pieces).toEqual(['a', 'b']);
    expect(done).toEqual({ finish: 'stop', usage: { prompt_tokens: 3, completion_tokens: 2 } });
  });
  test('that breaks off is an error, not a short answer', async () => {
    streamOf('data: {"choices":[{"text":"a"}]}\n\n');
    await expect(streamCompletion({ model: 'm', prompt: 'p' }, () => undefined)).rejects.toThrow(
      /broke/,
    );
    streamOf('data: {"error":{"message":"no memory"}}\n\n');
    await expect(streamCompletion({ model: 'm', prompt: 'p' }, () => undefined)).rejects.toThrow(
      'no memory',
    );
  });
});

describe('a prompt', () => {
  test('holds back the space before the caret, not the indentation', () => {
    expect(promptOf({ before: 'x = 1\n    return ', after: '' })).toEqual({
      prompt: 'x = 1\n    return',
      held: ' ',
    });
    expect(promptOf({ before: 'if x:\n    ', after: '\n' })).toEqual({
      prompt: 'if x:\n    ',
      held: '',
    });
  });
  test('fills in where something stands behind the caret', () => {
    expect(promptOf({ before: 'f(', after: ')\n' })).toMatchObject({ prompt: 'f(', suffix: ')\n' });
  });
  test('begins with a whole line', () => {
    expect(lastLines('abc\ndef\nghi', 6)).toBe('ghi');
    expect(lastLines('short', 100)).toBe('short');
  });
  test('gets an answer without what is there already', () => {
    expect(trimmedProposal(' 1)\n\n', ')', ' ')).toBe('1');
    expect(trimmedProposal('x\n  ', '')).toBe('x');
  });
});

describe('proposed text', () => {
  test('stays as far as somebody types the same', () => {
    const ghost = { at: 5, text: 'return x' };
    expect(leftOf(ghost, 5, 're')).toEqual({ at: 7, text: 'turn x' });
    expect(leftOf(ghost, 5, 'ro')).toBeUndefined();
    expect(leftOf(ghost, 4, 're')).toBeUndefined();
    expect(leftOf(ghost, 5, 'return x')).toBeUndefined();
  });
  test('is taken word by word', () => {
    expect(firstWord(' for line in')).toBe(' for');
    expect(firstWord('(x)')).toBe('(');
    expect(firstWord('\n    y')).toBe('\n    ');
  });
});

describe('a reply', () => {
  test('is split into words and code', () => {
    expect(partsOf('Use:\n```python\nx = 1\n```\nDone.')).toEqual([
      { isCode: false, text: 'Use:' },
      { isCode: true, text: 'x = 1' },
      { isCode: false, text: 'Done.' },
    ]);
    expect(partsOf('```\nunfinished')).toEqual([{ isCode: true, text: 'unfinished' }]);
  });
});

describe('boxes', () => {
  const size = { width: 100, height: 50 };
  test('are drawn in any direction, inside of the picture', () => {
    expect(boxBetween([80, 40], [20, -9], size, 'a')).toEqual({
      name: 'a',
      x: 20,
      y: 0,
      width: 60,
      height: 40,
    });
    expect(boxBetween([5, 5], [5.5, 30], size, 'a')).toBeUndefined();
  });
  test('go through the address', () => {
    const boxes = [{ name: 'left, top', x: 1, y: 2, width: 3, height: 4 }];
    expect(parseBoxes(boxesText(boxes))).toEqual([{ ...boxes[0], name: 'left  top' }]);
    expect(parseBoxes('a,1,2,3;b,1,2,-3,4;c,x,1,1,1;;d,1,2,,4')).toEqual([]);
    expect(freeName([{ name: 'Box 2', x: 0, y: 0, width: 1, height: 1 }])).toBe('Box 3');
  });
});

function npy(header: string, values: number[]): ArrayBuffer {
  const padded = header.padEnd(118 - 1) + '\n';
  const bytes = new Uint8Array(10 + padded.length + 4 * values.length);
  bytes.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, padded.length, 0]);
  bytes.set(new TextEncoder().encode(padded), 10);
  bytes.set(new Uint8Array(Float32Array.from(values).buffer), 10 + padded.length);
  return bytes.buffer;
}

describe('a map', () => {
  const header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
  test('is read from a NumPy file', () => {
    expect(parseNpy(npy(header, [1, 2.5]))).toEqual({
      width: 2,
      height: 1,
      values: Float32Array.of(1, 2.5),
    });
  });
  test('that is damaged or of another form is refused', () => {
    expect(() => parseNpy(npy(header, [1]))).toThrow(/cut short/);
    expect(() => parseNpy(npy(header.replace('<f4', '<f8'), [1, 2]))).toThrow(/another form/);
    expect(() => parseNpy(new ArrayBuffer(4))).toThrow(/no NumPy/);
  });
});

describe('a segmented scan', () => {
  const files = [{ name: 'h_labels.nii.gz', type: '', bytes: 1, url: '/u', ref: 'r' }];
  const volumes = [{ label: 1, name: 'grey, white', voxels: 10, mm3: 2.5 }];
  const item = (outcome: unknown) =>
    ({ files, outcome, request: {}, kind: 'scan' }) as unknown as Parameters<typeof segmentedOf>[0];
  test('finds its label map among the files', () => {
    const found = segmentedOf(
      item({ scans: [{ scan: 'h', labels: '/server/out/h_labels.nii.gz', error: null, volumes }] }),
    );
    expect(found).toMatchObject({ labels: { url: '/u' }, error: '', volumes, warnings: [] });
    expect(segmentedOf(item(null))).toBeUndefined();
    expect(volumesCsv(volumes)).toBe('label,name,voxels,mm3\n1,"grey, white",10,2.500\n');
  });
});

describe('a curve', () => {
  const rows = [
    { kind: 'step', step: 1, loss: 2, lr: 0.1, metrics: { dice: 0.1 } },
    { kind: 'step', step: 2, loss: null, metrics: { dice: 0.2 } },
    { kind: 'epoch', step: 2, scores: { macro_dice: 0.5 } },
  ];
  test('leaves out what is no number', () => {
    expect(curveOf(rows, 'loss')).toEqual([{ x: 1, y: 2 }]);
    expect(curveOf(rows, 'dice').map(({ y }) => y)).toEqual([0.1, 0.2]);
    expect(curveNames(rows)).toEqual(['loss', 'dice', 'macro_dice', 'lr']);
  });
  test('of many points is drawn by the means of neighbours', () => {
    const many = Array.from({ length: 10 }, (_, i) => ({ x: i, y: i }));
    expect(thinned(many, 5)[0]).toEqual({ x: 0.5, y: 0.5 });
    expect(thinned(many, 100)).toHaveLength(10);
  });
});

describe("the doctor's report", () => {
  const verdict = (op: string, outcome: 'pass' | 'fail') => ({
    id: `${op}/f32`,
    op,
    dtype: 'f32',
    layout: '',
    gradient: false,
    outcome,
    error: 0,
    tolerance: 1,
  });
  test('names what failed, first', () => {
    const groups = groupsOf([verdict('a', 'pass'), verdict('b', 'pass'), verdict('b', 'fail')]);
    expect(groups.map(({ op, counts }) => [op, counts.pass, counts.fail])).toEqual([
      ['b', 1, 1],
      ['a', 1, 0],
    ]);
    expect(groups[0].faults.map(({ id }) => id)).toEqual(['b/f32']);
  });
});
