// SPDX-License-Identifier: Apache-2.0
// One song of the library, and what can be done with it.
import { useState } from 'preact/hooks';
import { changeItem, changePlaylist, deleteItem, playlists } from '../state/library';
import { setParams } from '../state/route';
import { whenText } from '../state/words';
import { askName, confirm } from '../ui/dialog';
import { Sign } from '../ui/sign';
import { type Song, type Task, draft, songsOf, taskTitles, withSource } from './draft';
import { listFault } from './list-fault';
import { type Track, isPlaying, play, stopIfPlaying, toggle, track } from './playing';

const trackOf = ({ item, sound, title }: Song): Track => ({ id: item.id, title, url: sound.url });

async function remove({ item }: Song): Promise<void> {
  const several = songsOf(item).length;
  const text =
    several > 1
      ? `All ${several} variations are deleted with their settings. This cannot be undone.`
      : 'The sound and its settings are deleted. This cannot be undone.';
  if (!(await confirm(`Delete “${item.title}”?`, text, 'Delete'))) return;
  stopIfPlaying(item.id);
  await listFault.run(() => deleteItem(item));
}

async function rename({ item }: Song): Promise<void> {
  const title = await askName('Rename the song', 'Rename it', item.title);
  if (title) await listFault.run(() => changeItem(item, { title }));
}

function goOn(song: Song, task: Task): void {
  draft.value = withSource(draft.value, song);
  setParams({ task, view: '' }, true);
  document.getElementById('room')?.scrollIntoView();
}

const followUps: Task[] = ['retake', 'repaint', 'extend', 'edit', 'audio2audio'];

function Settings({ item }: Song) {
  const options = Object.entries(item.request.options ?? {}).filter(([key]) => key !== 'lyrics');
  const { lyrics } = item.request.options ?? {};
  return (
    <>
      <dl class="facts">
        {options.map(([key, value]) => [
          <dt key={key}>{key.replaceAll('_', ' ')}</dt>,
          <dd key={`${key}=`}>
            {typeof value === 'object' ? JSON.stringify(value) : String(value)}
          </dd>,
        ])}
      </dl>
      {typeof lyrics === 'string' && (
        <pre class="song-words" tabIndex={0} aria-label="Words">
          {lyrics}
        </pre>
      )}
    </>
  );
}

function PlaylistBoxes({ item }: Song) {
  if (playlists.value.length === 0) return null;
  return (
    <fieldset>
      <legend>Playlists</legend>
      <div class="row">
        {playlists.value.map(({ id, name, items }) => {
          const isIn = items.includes(item.id);
          const change = () =>
            listFault.run(() =>
              changePlaylist(id, {
                items: isIn ? items.filter((one) => one !== item.id) : [...items, item.id],
              }),
            );
          return (
            <label key={id} class="check">
              <input type="checkbox" checked={isIn} onChange={change} />
              {name}
            </label>
          );
        })}
      </div>
    </fieldset>
  );
}

function More({ song, close }: { song: Song; close: () => void }) {
  const choose = (task: Task) => {
    close();
    goOn(song, task);
  };
  return (
    <div class="song-more stack tight">
      <div class="row tags" role="group" aria-label="Make another from it">
        {followUps.map((task) => (
          <button key={task} type="button" class="chip" onClick={() => choose(task)}>
            {taskTitles[task]}
          </button>
        ))}
      </div>
      <PlaylistBoxes {...song} />
      <Settings {...song} />
      <div class="row">
        <a class="button" href={song.sound.url} download={song.sound.name}>
          <Sign name="download" />
          Download
        </a>
        <button type="button" onClick={() => rename(song)}>
          <Sign name="pencil" />
          Rename
        </button>
        <button type="button" class="bad" onClick={() => remove(song)}>
          <Sign name="trash" />
          Delete
        </button>
      </div>
    </div>
  );
}

export function SongRow({ song, following }: { song: Song; following: Song[] }) {
  const [isOpen, setOpen] = useState(false);
  const { item, title, sound } = song;
  const isThis = track.value?.url === sound.url;
  const isOn = isThis && isPlaying.value;
  const press = () => (isThis ? toggle() : play(trackOf(song), following.map(trackOf)));
  const tags = item.request.options?.tags;
  return (
    <li class={isThis ? 'song now' : 'song'}>
      <div class="song-line">
        <button
          type="button"
          class="icon"
          aria-label={isOn ? `Pause ${title}` : `Play ${title}`}
          onClick={press}
        >
          <Sign name={isOn ? 'pause' : 'play'} full={!isOn} />
        </button>
        <div class="grow">
          <p class="ellipsis">
            <strong>{title}</strong>
          </p>
          <p class="small soft ellipsis">
            {whenText(item.created)}
            {typeof tags === 'string' && tags !== title && ` · ${tags}`}
          </p>
        </div>
        <button
          type="button"
          class="icon plain"
          aria-pressed={item.liked}
          aria-label={`Like ${title}`}
          onClick={() => listFault.run(() => changeItem(item, { liked: !item.liked }))}
        >
          <Sign name="heart" full={item.liked} />
        </button>
        <button
          type="button"
          class="plain"
          aria-expanded={isOpen}
          aria-label={`More about ${title}`}
          onClick={() => setOpen(!isOpen)}
        >
          More
        </button>
      </div>
      {isOpen && <More song={song} close={() => setOpen(false)} />}
    </li>
  );
}
