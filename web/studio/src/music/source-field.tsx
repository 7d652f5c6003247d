// SPDX-License-Identifier: Apache-2.0
// The clip that a task begins with: a song of the library or a file, and the region on its wave.
import { useEffect } from 'preact/hooks';
import { upload } from '../api/uploads';
import { collections } from '../state/library';
import { clockText } from '../state/words';
import { DropZone } from '../ui/drop-zone';
import { Select } from '../ui/fields';
import { Attempt, Fault, Notice } from '../ui/notice';
import { Sign } from '../ui/sign';
import {
  type Song,
  type Task,
  changeDraft,
  draft,
  needsOwnSong,
  songsOf,
  withSource,
} from './draft';
import { play } from './playing';
import { type Edge, type Limits, extensionLimits, moveEdge, moveExtension } from './region';
import type { Wave } from './wave';
import { RegionWave } from './waveform';

const attempt = new Attempt();

const take = ([file]: File[]) =>
  attempt.run(async () => {
    const { ref, name } = await upload(file);
    const id = ref.replace(/^upload:/, '');
    changeDraft({
      source: { ref, url: `api/uploads/${encodeURIComponent(id)}`, name },
      region: undefined,
    });
  });

const shortest = 0.5; // seconds of a region

function RepaintRegion({ wave }: { wave: Wave }) {
  const limits: Limits = {
    first: 0,
    last: wave.seconds,
    shortest: Math.min(shortest, wave.seconds),
  };
  const { region } = draft.value;
  useEffect(() => {
    if (region && region.to > wave.seconds) changeDraft({ region: undefined });
  }, [wave]);
  const half = { from: wave.seconds / 4, to: (3 * wave.seconds) / 4 };
  return (
    <div class="stack tight">
      <RegionWave
        wave={wave}
        region={region}
        limits={limits}
        labels={{
          from: 'Start of the part that is made anew',
          to: 'End of the part that is made anew',
        }}
        move={(edge: Edge, at) =>
          region && changeDraft({ region: moveEdge(region, edge, at, limits) })
        }
        draw={(drawn) => changeDraft({ region: drawn })}
      />
      {region ? (
        <p class="small" role="status">
          Made anew: {region.from.toFixed(1)} s to {region.to.toFixed(1)} s
        </p>
      ) : (
        <div class="row">
          <p class="small soft">Drag over the part that is to be made anew.</p>
          <button type="button" class="plain" onClick={() => changeDraft({ region: half })}>
            Mark the middle
          </button>
        </div>
      )}
    </div>
  );
}

function ExtendRegion({ wave }: { wave: Wave }) {
  const { region } = draft.value;
  const suits =
    region && region.from <= 0 && region.to >= wave.seconds && region.to <= 2 * wave.seconds;
  const shown = suits ? region : { from: 0, to: 1.5 * wave.seconds };
  useEffect(() => {
    if (!suits) changeDraft({ region: shown });
  }, [wave, suits]);
  return (
    <div class="stack tight">
      <RegionWave
        wave={wave}
        region={shown}
        limits={extensionLimits(wave.seconds)}
        labels={{ from: 'Where the extended song begins', to: 'Where the extended song ends' }}
        move={(edge, at) => changeDraft({ region: moveExtension(shown, edge, at, wave.seconds) })}
      />
      <p class="small" role="status">
        {(-shown.from).toFixed(1)} s before, {(shown.to - wave.seconds).toFixed(1)} s after. Drag
        the edges.
      </p>
    </div>
  );
}

function SongSelect() {
  const songs = collections.song.items.value.flatMap(songsOf);
  const { source } = draft.value;
  if (songs.length === 0) return null;
  const found = songs.find(({ sound }) => sound.ref === source?.ref);
  const choose = (ref: string) => {
    const song = songs.find(({ sound }) => sound.ref === ref);
    if (song) draft.value = withSource(draft.value, song);
  };
  const choices = [
    { value: '', text: found ? 'None' : 'Choose a song' },
    ...songs.map(({ sound, title }: Song) => ({ value: sound.ref, text: title })),
  ];
  return (
    <Select
      label="Song of your library"
      value={found?.sound.ref ?? ''}
      choices={choices}
      change={choose}
    />
  );
}

export function SourceField({
  task,
  wave,
  fault,
}: {
  task: Task;
  wave: Wave | undefined;
  fault: string | undefined;
}) {
  const { source } = draft.value;
  return (
    <div class="stack tight">
      <SongSelect />
      {!needsOwnSong(task) && (
        <DropZone
          label={attempt.busy.value ? 'Uploading…' : 'Choose a sound file…'}
          hint="WAV, FLAC, OGG or MP3, at most 4 minutes; you can also drop it here."
          accept="audio/*,.wav,.flac,.ogg,.mp3"
          take={take}
        />
      )}
      <Fault text={attempt.fault} />
      {fault && <Notice kind="bad">{fault}</Notice>}
      {source && wave && (
        <>
          <div class="row apart">
            <p class="grow ellipsis">
              <strong>{source.name}</strong> <span class="soft">{clockText(wave.seconds)}</span>
            </p>
            <button
              type="button"
              class="plain"
              onClick={() => play({ id: source.ref, title: source.name, url: source.url })}
            >
              <Sign name="play" full />
              Listen
            </button>
          </div>
          {task === 'repaint' && <RepaintRegion wave={wave} />}
          {task === 'extend' && <ExtendRegion wave={wave} />}
        </>
      )}
    </div>
  );
}
