// SPDX-License-Identifier: Apache-2.0
// What is asked of the program for a song.
import { describe, expect, test } from 'vitest';
import type { Item, Preset } from '../../../studio/src/api/types';
import {
  type Draft,
  emptyDraft,
  presetSettings,
  songRequest,
  songTitle,
  songsOf,
  whyNotYet,
  withPreset,
  withSource,
} from '../../../studio/src/music/draft';
import { insertTag } from '../../../studio/src/music/lyrics';
import { isSound, textsFor } from '../../../studio/src/music/training-files';

const written = (change: Partial<Draft>): Draft => ({
  ...emptyDraft,
  tags: 'funk, 110 bpm',
  ...change,
});
const source = {
  ref: 'library:3/song.wav',
  url: '/x',
  name: 'a song',
  from: 'library:3/song.json',
};
const chance = () => 77;
const optionsOf = (...args: Parameters<typeof songRequest>) => songRequest(...args).options;

describe('a song', () => {
  test('is asked for with what was said, and nothing else', () => {
    expect(songRequest('text2music', written({}), 'model:1', 0, chance)).toEqual({
      verb: 'run',
      family: 'acestep',
      model: 'model:1',
      title: 'funk, 110 bpm',
      options: { tags: 'funk, 110 bpm', seed: 77 },
    });
  });

  test('keeps a seed that was given, and other settings', () => {
    const song = written({
      seed: 0,
      seconds: 30,
      variations: 4,
      lyrics: '[verse]\nla',
      settings: { steps: 27 },
      adapter: 'library:9',
      adapterWeight: 0.8,
    });
    expect(optionsOf('text2music', song, 'm', 0, chance)).toEqual({
      tags: 'funk, 110 bpm',
      lyrics: '[verse]\nla',
      seconds: 30,
      seed: 0,
      variations: 4,
      steps: 27,
      lora: 'library:9:0.8',
    });
  });

  test('that is instrumental has no words', () => {
    const song = written({ instrumental: true, lyrics: 'la la' });
    expect(optionsOf('text2music', song, 'm', 0, chance)).not.toHaveProperty('lyrics');
    expect(optionsOf('text2music', song, 'm', 0, chance)).toHaveProperty('instrumental', true);
  });

  test('is repainted where somebody dragged', () => {
    const song = written({ source, region: { from: 2.004, to: 5.5 }, variance: 0.9, seconds: 30 });
    expect(optionsOf('repaint', song, 'm', 10, chance)).toEqual({
      task: 'repaint',
      source: 'library:3/song.wav',
      from: 'library:3/song.json',
      start: 2,
      end: 5.5,
      variance: 0.9,
      tags: 'funk, 110 bpm',
      seed: 77,
    });
  });

  test('is extended on both sides of its clip', () => {
    const song = written({ source: { ...source, from: undefined }, region: { from: -3, to: 14 } });
    const options = optionsOf('extend', song, 'm', 10, chance);
    expect(options).toMatchObject({ task: 'extend', left: 3, right: 4 });
    expect(options).not.toHaveProperty('from');
  });

  test('is retaken from its own request with other chance alone', () => {
    const options = optionsOf('retake', written({ source }), 'm', 10, chance);
    expect(options).toMatchObject({ task: 'retake', from: 'library:3/song.json', retake_seed: 77 });
    expect(options).not.toHaveProperty('source');
    expect(options).not.toHaveProperty('seed');
  });

  test('says what is missing', () => {
    expect(whyNotYet('text2music', emptyDraft)).toMatch(/sound like/);
    expect(whyNotYet('repaint', written({}))).toMatch(/clip/);
    expect(whyNotYet('repaint', written({ source }))).toMatch(/Drag/);
    expect(whyNotYet('retake', written({ source: { ...source, from: undefined } }))).toMatch(
      /made here/,
    );
    expect(whyNotYet('edit', written({ source }))).toMatch(/become/);
    expect(whyNotYet('edit', written({ source, targetTags: 'jazz' }))).toBe('');
    expect(whyNotYet('text2music', written({}))).toBe('');
  });

  test('has a title of bounded length', () => {
    expect(songTitle('text2music', written({ tags: 'a'.repeat(500) }))).toHaveLength(120);
    expect(songTitle('repaint', written({ tags: '', source }))).toBe('Repaint: a song');
  });
});

describe('a preset', () => {
  const preset: Preset = {
    name: 'x',
    source: 'own',
    settings: { tags: 'jazz', lyrics: '[inst]', steps: 40 },
  };
  test('fills the form in, and comes out of it again', () => {
    const song = withPreset(written({ lyrics: 'before' }), preset);
    expect(song).toMatchObject({
      tags: 'jazz',
      instrumental: true,
      lyrics: '',
      settings: { steps: 40 },
    });
    expect(presetSettings(song)).toEqual(preset.settings);
  });
});

const file = (name: string, type = 'audio/wav') => ({
  name,
  type,
  bytes: 1,
  url: `/f/${name}`,
  ref: `library:1/${name}`,
});
const item = (files: Item['files']): Item => ({
  id: '1',
  job: '1',
  kind: 'song',
  title: 'Two',
  created: '',
  liked: false,
  files,
  request: { verb: 'run', options: { tags: 'waltz', lyrics: 'la' } },
  outcome: null,
});

describe('an item of the library', () => {
  test('holds a song for each sound, with its settings', () => {
    const files = [
      file('song-1.wav'),
      file('song-1.json', 'application/json'),
      file('song-2.wav'),
      file('song-1.png', 'image/png'),
    ];
    const songs = songsOf(item(files));
    expect(songs.map(({ title, json }) => [title, json?.name])).toEqual([
      ['Two (1)', 'song-1.json'],
      ['Two (2)', undefined],
    ]);
    expect(withSource(emptyDraft, songs[0])).toMatchObject({
      tags: 'waltz',
      lyrics: 'la',
      source: { ref: 'library:1/song-1.wav', from: 'library:1/song-1.json' },
    });
  });
});

describe('lyrics', () => {
  test('get a tag on a line of its own', () => {
    expect(insertTag('', 0, 'verse')).toEqual({ text: '[verse]\n', caret: 8 });
    expect(insertTag('la la', 2, 'chorus')).toEqual({ text: 'la la\n\n[chorus]\n', caret: 16 });
    expect(insertTag('one\ntwo', 4, 'bridge').text).toBe('one\n\n[bridge]\ntwo');
  });
});

describe('songs to train on', () => {
  test('get the common tags where they have no text', async () => {
    const files = [
      new File(['x'], 'a.mp3'),
      new File(['x'], 'b.wav'),
      new File(['waltz'], 'b_prompt.txt'),
      new File(['la'], 'a_lyrics.txt'),
    ];
    expect(files.filter(isSound).map(({ name }) => name)).toEqual(['a.mp3', 'b.wav']);
    expect(await textsFor(files, ' my style ')).toEqual([
      { name: 'b_prompt.txt', text: 'waltz' },
      { name: 'a_lyrics.txt', text: 'la' },
      { name: 'a_prompt.txt', text: 'my style' },
    ]);
  });
});
