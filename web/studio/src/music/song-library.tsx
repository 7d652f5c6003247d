// SPDX-License-Identifier: Apache-2.0
// The songs that were made: listen, like, find, group, make another from one.
import { useEffect, useState } from 'preact/hooks';
import { api, withQuery } from '../api/client';
import type { Item } from '../api/types';
import { listOf } from '../state/jobs';
import {
  addPlaylist,
  changePlaylist,
  collections,
  deletePlaylist,
  playlists,
} from '../state/library';
import { param, setParams } from '../state/route';
import { askName, confirm } from '../ui/dialog';
import { Select, TextField } from '../ui/fields';
import { Empty, Fault } from '../ui/notice';
import { Sign } from '../ui/sign';
import { songsOf } from './draft';
import { listFault } from './list-fault';
import { SongRow } from './song-row';

const { song: songs } = collections;
const pause = 200; // ms after the last key before the server is asked

/** The items that the search, the heart and the playlist leave, as the server says. */
function useFound(q: string, isLiked: boolean, playlist: string): Item[] {
  const all = songs.items.value;
  const isFiltered = q !== '' || isLiked || playlist !== '';
  const [found, setFound] = useState<Item[]>([]);
  useEffect(() => {
    if (!isFiltered) return undefined;
    let isMine = true;
    const ask = async () => {
      const path = withQuery('api/library', {
        kind: 'song',
        q,
        liked: isLiked,
        playlist,
        limit: 200,
      });
      const items = listOf<Item>(await api.get(path), 'items');
      if (isMine) setFound(items);
    };
    const timer = setTimeout(() => void listFault.run(ask), pause);
    return () => {
      isMine = false;
      clearTimeout(timer);
    };
  }, [q, isLiked, playlist, all, playlists.value]);
  return isFiltered ? found : all;
}

function PlaylistField() {
  const chosen = param('playlist');
  const make = async () => {
    const name = await askName('A new playlist', 'Make it');
    if (name) await listFault.run(() => addPlaylist(name));
  };
  const rename = async (name: string) => {
    const next = await askName('Rename the playlist', 'Rename it', name);
    if (next) await listFault.run(() => changePlaylist(chosen, { name: next }));
  };
  const remove = async (name: string) => {
    if (
      !(await confirm(
        `Remove the playlist ${name}?`,
        'Its songs stay in the library.',
        'Remove it',
      ))
    )
      return;
    await listFault.run(() => deletePlaylist(chosen));
    setParams({ playlist: '' });
  };
  const found = playlists.value.find(({ id }) => id === chosen);
  const choices = [
    { value: '', text: 'All songs' },
    ...playlists.value.map(({ id, name }) => ({ value: id, text: name })),
  ];
  return (
    <div class="row">
      <Select
        label="Playlist"
        isLabelUnseen
        value={found ? chosen : ''}
        choices={choices}
        change={(playlist) => setParams({ playlist }, true)}
      />
      <button
        type="button"
        class="icon plain"
        aria-label="New playlist"
        title="New playlist"
        onClick={make}
      >
        <Sign name="plus" />
      </button>
      {found && (
        <>
          <button
            type="button"
            class="icon plain"
            aria-label="Rename this playlist"
            title="Rename this playlist"
            onClick={() => rename(found.name)}
          >
            <Sign name="pencil" />
          </button>
          <button
            type="button"
            class="icon plain bad"
            aria-label="Remove this playlist"
            title="Remove this playlist"
            onClick={() => remove(found.name)}
          >
            <Sign name="trash" />
          </button>
        </>
      )}
    </div>
  );
}

function Filters({ isLiked }: { isLiked: boolean }) {
  return (
    <div class="library-filters">
      <TextField
        label="Search songs"
        isLabelUnseen
        type="search"
        placeholder="Search"
        value={param('q')}
        change={(q) => setParams({ q })}
      />
      <button
        type="button"
        class="icon"
        aria-pressed={isLiked}
        aria-label="Only songs I like"
        title="Only songs I like"
        onClick={() => setParams({ liked: isLiked ? '' : '1' }, true)}
      >
        <Sign name="heart" full={isLiked} />
      </button>
      <PlaylistField />
    </div>
  );
}

export function SongLibrary() {
  const isLiked = param('liked') === '1';
  const found = useFound(param('q').trim(), isLiked, param('playlist'));
  const listed = found.flatMap(songsOf);
  const hasAny = songs.items.value.length > 0;
  return (
    <section class="panel" aria-labelledby="songs-title">
      <div class="panel-head">
        <h2 id="songs-title">Your songs</h2>
        {(hasAny || playlists.value.length > 0) && <Filters isLiked={isLiked} />}
      </div>
      <Fault text={listFault.fault} />
      {listed.length > 0 && (
        <ul class="songs">
          {listed.map((song, i) => (
            <SongRow key={song.sound.ref} song={song} following={listed.slice(i + 1)} />
          ))}
        </ul>
      )}
      {listed.length === 0 && hasAny && <p class="soft">No song fits. Change the search.</p>}
      {!hasAny && songs.isLoaded.value && (
        <Empty sign="music" title="No songs yet">
          <p>What you make appears here, ready to play, to keep and to go on from.</p>
        </Empty>
      )}
      {songs.hasMore.value && found === songs.items.value && (
        <div class="row">
          <button type="button" onClick={() => listFault.run(() => songs.more())}>
            Show more
          </button>
        </div>
      )}
    </section>
  );
}
