// SPDX-License-Identifier: Apache-2.0
// Music: a song is described at the left, what was made stands at the right.
import { useEffect } from 'preact/hooks';
import { collections, loadPlaylists } from '../state/library';
import { chosenModel, models } from '../state/models';
import { param, setParams } from '../state/route';
import { ModelChoice, MoreModels, NoModel } from '../ui/model-choice';
import { Segments } from '../ui/fields';
import { listFault } from './list-fault';
import { Fault } from '../ui/notice';
import { SongForm } from './song-form';
import { SongLibrary } from './song-library';
import { TrainForm } from './train-form';
import './music.css';

const views = [
  { value: 'make', text: 'Make' },
  { value: 'train', text: 'Train a style' },
] as const;

export default function MusicRoom() {
  useEffect(() => {
    void listFault.run(() =>
      Promise.all([collections.song.load(), collections.adapter.load(), loadPlaylists()]),
    );
  }, []);
  const view = param('view') === 'train' ? 'train' : 'make';
  const hasModel = chosenModel('acestep') !== undefined;
  return (
    <>
      <div class="room-head">
        <div>
          <h1>Music</h1>
          <p class="soft">Describe a song, and the machine plays it.</p>
        </div>
        <ModelChoice family="acestep" />
      </div>
      <div class="stack">
        <Fault text={listFault.fault} />
        {hasModel && (
          <Segments
            label="What to do"
            isLabelUnseen
            value={view}
            choices={views}
            change={(value) => setParams({ view: value === 'make' ? '' : value }, true)}
          />
        )}
        <div class="columns">
          <div class="stack">
            {models.value && !hasModel && <NoModel family="acestep" />}
            {hasModel && (view === 'train' ? <TrainForm /> : <SongForm />)}
            {hasModel && <MoreModels family="acestep" />}
          </div>
          <SongLibrary />
        </div>
      </div>
    </>
  );
}
