// SPDX-License-Identifier: Apache-2.0
// The one sound that plays, whichever room is open.
import { signal } from '@preact/signals';

export interface Track {
  id: string; // of the library's item
  title: string;
  url: string;
}

export const track = signal<Track | undefined>(undefined);
export const isPlaying = signal(false);
export const position = signal(0); // seconds
export const length = signal(0);
export const soundFault = signal('');
export const following = signal<Track[]>([]); // what plays afterwards

const sound = typeof Audio === 'undefined' ? undefined : new Audio();

async function begin(): Promise<void> {
  try {
    await sound?.play();
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return; // another was chosen
    soundFault.value = 'This sound cannot be played here.';
  }
}

export function play(next: Track, then: Track[] = []): void {
  if (!sound) return;
  following.value = then;
  soundFault.value = '';
  if (track.value?.url !== next.url) {
    track.value = next;
    position.value = 0;
    length.value = 0;
    sound.src = next.url;
  }
  void begin();
}

export function toggle(): void {
  if (sound?.paused) void begin();
  else sound?.pause();
}

export function seek(seconds: number): void {
  if (sound && Number.isFinite(sound.duration)) {
    sound.currentTime = Math.min(Math.max(seconds, 0), sound.duration);
  }
}

/** Something that was played is no longer there. */
export function stopIfPlaying(id: string): void {
  if (track.value?.id !== id) return;
  sound?.pause();
  sound?.removeAttribute('src');
  track.value = undefined;
}

function ended(): void {
  const [next, ...rest] = following.value;
  if (next) play(next, rest);
}

sound?.addEventListener('play', () => (isPlaying.value = true));
sound?.addEventListener('pause', () => (isPlaying.value = false));
sound?.addEventListener('timeupdate', () => (position.value = sound.currentTime));
// Without a length from the server it is infinite until the end is reached.
sound?.addEventListener('durationchange', () => {
  length.value = Number.isFinite(sound.duration) ? sound.duration : 0;
});
sound?.addEventListener('ended', ended);
sound?.addEventListener('error', () => {
  if (track.value) soundFault.value = 'This sound cannot be played here.';
});
