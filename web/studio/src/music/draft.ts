// SPDX-License-Identifier: Apache-2.0
// The song that is being written, kept over reloads, and the request that is made of it.
import type { Item, ItemFile, JobRequest, Options, Preset } from '../api/types';
import { isRecord, keptInTab } from '../state/kept';
import type { Region } from './region';
import { extensionOf, round } from './region';

export const tasks = ['text2music', 'retake', 'repaint', 'extend', 'edit', 'audio2audio'] as const;
export type Task = (typeof tasks)[number];
export const isTask = (text: string): text is Task => tasks.some((task) => task === text);

export const taskTitles: Record<Task, string> = {
  text2music: 'New song',
  retake: 'Retake',
  repaint: 'Repaint',
  extend: 'Extend',
  edit: 'Edit',
  audio2audio: 'From a clip',
};

export const taskWords: Record<Task, string> = {
  text2music: 'A song from a description and, if you like, words to sing.',
  retake: 'The same request again, with some of the chance in it drawn anew.',
  repaint: 'A stretch of a song is made anew; the rest stays.',
  extend: 'Music before or after a clip, at most its own length on each side.',
  edit: 'A song moves towards another description or other words.',
  audio2audio: 'A song near a clip: hum something, or give a sketch.',
};

/** The clip that a task begins with. */
export interface Source {
  ref: string;
  url: string;
  name: string;
  from?: string; // reference of the song.json that made it
}

export interface Draft {
  tags: string;
  lyrics: string;
  instrumental: boolean;
  seconds?: number;
  seed?: number; // none: another one each time
  variations: number;
  source?: Source;
  region?: Region;
  variance: number;
  strength: number;
  targetTags: string;
  targetLyrics: string;
  adapter: string; // a reference; empty: none
  adapterWeight: number;
  settings: Options; // of the sampler and the sound, by their keys
}

export const emptyDraft: Draft = {
  tags: '',
  lyrics: '',
  instrumental: false,
  variations: 1,
  variance: 0.5,
  strength: 0.5,
  targetTags: '',
  targetLyrics: '',
  adapter: '',
  adapterWeight: 1,
  settings: {},
};

const isDraft = (value: unknown): value is Draft =>
  isRecord(value) &&
  typeof value.tags === 'string' &&
  typeof value.lyrics === 'string' &&
  typeof value.variations === 'number' &&
  isRecord(value.settings);

export const draft = keptInTab<Draft>('song', emptyDraft, isDraft);
export const changeDraft = (change: Partial<Draft>): void => {
  draft.value = { ...draft.value, ...change };
};

export const needsSource = (task: Task) => task !== 'text2music';
/** Retakes repeat a request, so they need a song that was made here. */
export const needsOwnSong = (task: Task) => task === 'retake';

/** Why the song cannot be made yet; empty if it can. */
export function whyNotYet(task: Task, song: Draft): string {
  if (needsSource(task) && !song.source) {
    return needsOwnSong(task) ? 'Choose a song of your library first.' : 'Choose a clip first.';
  }
  if (needsOwnSong(task) && !song.source?.from) {
    return 'A retake needs a song that was made here; choose one of your library.';
  }
  if (task === 'repaint' && !song.region) return 'Drag over the part that is to be made anew.';
  if (task === 'edit' && !song.targetTags.trim() && !song.targetLyrics.trim()) {
    return 'Say what it should become.';
  }
  if (task === 'text2music' && !song.tags.trim()) return 'Say what it should sound like.';
  return '';
}

function taskOptions(task: Task, song: Draft, seconds: number): Options {
  const { source, region } = song;
  const options: Options = task === 'text2music' ? {} : { task };
  if (task === 'retake') return { ...options, variance: song.variance };
  if (source && needsSource(task)) options.source = source.ref;
  if (task === 'repaint' && region) {
    return {
      ...options,
      start: round(region.from),
      end: round(region.to),
      variance: song.variance,
    };
  }
  if (task === 'extend' && region) {
    return { ...options, ...extensionOf(region, seconds), variance: song.variance };
  }
  if (task === 'edit') {
    if (song.targetTags.trim()) options.target_tags = song.targetTags.trim();
    if (song.targetLyrics.trim()) options.target_lyrics = song.targetLyrics.trim();
  }
  if (task === 'audio2audio') options.strength = song.strength;
  return options;
}

function textOptions(task: Task, song: Draft): Options {
  const options: Options = {};
  if (song.tags.trim()) options.tags = song.tags.trim();
  if (song.instrumental) options.instrumental = true;
  else if (song.lyrics.trim()) options.lyrics = song.lyrics;
  if (song.seconds && task === 'text2music') options.seconds = song.seconds;
  return options;
}

export function songTitle(task: Task, song: Draft): string {
  const about = song.tags.split(',').slice(0, 3).join(',').trim() || song.source?.name || 'Song';
  return (task === 'text2music' ? about : `${taskTitles[task]}: ${about}`).slice(0, 120);
}

/** The job that makes the song. `seconds` is the length of its clip, `chance` draws a seed. */
export function songRequest(
  task: Task,
  song: Draft,
  model: string,
  seconds: number,
  chance: () => number,
): JobRequest {
  const seed = song.seed ?? chance();
  const options: Options = {
    ...song.settings,
    ...textOptions(task, song),
    ...taskOptions(task, song, seconds),
  };
  if (needsSource(task) && song.source?.from) options.from = song.source.from;
  // A retake keeps the first seed, that of its song, and draws only the other one.
  if (task === 'retake') options.retake_seed = seed;
  else options.seed = seed;
  if (song.variations > 1) options.variations = song.variations;
  if (song.adapter) options.lora = `${song.adapter}:${song.adapterWeight}`;
  return { verb: 'run', family: 'acestep', model, options, title: songTitle(task, song) };
}

export const drawSeed = (): number => crypto.getRandomValues(new Uint32Array(1))[0] % 1_000_000;

const ownKeys = ['tags', 'lyrics', 'instrumental', 'seconds'];

/** A preset fills in the fields, so that one sees what it means and can change it. */
export function withPreset(song: Draft, { settings }: Preset): Draft {
  const { tags, lyrics, seconds, instrumental } = settings;
  const others = Object.entries(settings).filter(([key]) => !ownKeys.includes(key));
  const words = typeof lyrics === 'string' ? lyrics : '';
  const isInstrumental = instrumental === true || words.trim() === '[inst]';
  return {
    ...song,
    tags: typeof tags === 'string' ? tags : song.tags,
    lyrics: isInstrumental ? '' : words,
    instrumental: isInstrumental,
    seconds: typeof seconds === 'number' ? seconds : song.seconds,
    settings: Object.fromEntries(others),
  };
}

export function presetSettings(song: Draft): Options {
  const settings: Options = { ...song.settings, tags: song.tags };
  if (song.instrumental) settings.lyrics = '[inst]';
  else if (song.lyrics.trim()) settings.lyrics = song.lyrics;
  if (song.seconds) settings.seconds = song.seconds;
  return settings;
}

export interface Song {
  item: Item;
  sound: ItemFile;
  json: ItemFile | undefined; // the settings that make it again
  title: string;
}

const stem = (name: string) => name.replace(/\.[^.]+$/, '');

/** An item holds one song, or several variations. */
export function songsOf(item: Item): Song[] {
  const sounds = item.files.filter(
    ({ name, type }) => /^audio\//.test(type) || /\.(wav|flac|ogg|mp3)$/i.test(name),
  );
  return sounds.map((sound, i) => ({
    item,
    sound,
    json: item.files.find(({ name }) => name === `${stem(sound.name)}.json`),
    title: sounds.length > 1 ? `${item.title} (${i + 1})` : item.title,
  }));
}

/** What a library's song brings into the form. */
export function withSource(song: Draft, { item, sound, json, title }: Song): Draft {
  const { tags, lyrics, instrumental } = item.request.options ?? {};
  return {
    ...song,
    source: { ref: sound.ref, url: sound.url, name: title, from: json?.ref },
    region: undefined,
    tags: typeof tags === 'string' ? tags : song.tags,
    lyrics: typeof lyrics === 'string' ? lyrics : '',
    instrumental: instrumental === true,
  };
}
