// SPDX-License-Identifier: Apache-2.0
// The form of a song: task, description, words, clip, and what most people leave alone.
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { Job } from '../api/types';
import { isActive } from '../state/job-store';
import { jobs, startJob } from '../state/jobs';
import { collections } from '../state/library';
import { chosenModel } from '../state/models';
import { param, setParams } from '../state/route';
import { commandOf } from '../state/session';
import { NumberField, Segments, Slider, TextField } from '../ui/fields';
import { JobLine } from '../ui/job-line';
import { Attempt, Fault } from '../ui/notice';
import { OptionForm } from '../ui/option-form';
import { Sign } from '../ui/sign';
import { AdapterField } from './adapter-field';
import {
  type Task,
  changeDraft,
  draft,
  drawSeed,
  isTask,
  needsSource,
  songRequest,
  songsOf,
  taskTitles,
  taskWords,
  tasks,
  whyNotYet,
} from './draft';
import { LyricsField } from './lyrics-field';
import { PresetField } from './preset-field';
import { SongRow } from './song-row';
import { SourceField } from './source-field';
import { useWave } from './waveform';

const attempt = new Attempt();
const begun = signal<string[]>([]); // jobs, the newest first

export const currentTask = (): Task =>
  isTask(param('task')) ? (param('task') as Task) : 'text2music';

const isTiny = () => /tiny|small/i.test(chosenModel('acestep')?.name ?? '');
const placeholders = {
  large: 'funk, slap bass, tight drums, warm, 110 bpm',
  tiny: 'a minor, saw, 120 bpm',
};

function TagsField() {
  const example = isTiny() ? placeholders.tiny : placeholders.large;
  return (
    <div class="stack tight">
      <TextField
        label="What it sounds like"
        value={draft.value.tags}
        placeholder={example}
        hint={
          isTiny()
            ? 'This small model knows keys (a minor, c major), timbres (saw, square, pluck, sine) and tempi (60, 90, 120 bpm).'
            : 'Style, instruments, mood, tempo, voice: words with commas between them.'
        }
        change={(tags) => changeDraft({ tags })}
      />
      {!draft.value.tags && (
        <div class="row">
          <button type="button" class="plain" onClick={() => changeDraft({ tags: example })}>
            <Sign name="spark" />
            Use the example
          </button>
        </div>
      )}
    </div>
  );
}

function EditFields() {
  return (
    <>
      <TextField
        label="What it should become"
        value={draft.value.targetTags}
        placeholder="jazz, brushes, double bass"
        change={(targetTags) => changeDraft({ targetTags })}
      />
      <TextField
        label="Other words to sing"
        value={draft.value.targetLyrics}
        hint="Leave it empty to keep the words."
        change={(targetLyrics) => changeDraft({ targetLyrics })}
      />
    </>
  );
}

const percent = (value: number) => `${Math.round(100 * value)} %`;

function AmountField({ task }: { task: Task }) {
  if (task === 'audio2audio') {
    return (
      <Slider
        label="How close to the clip"
        min={0.05}
        max={0.95}
        step={0.05}
        text={percent}
        value={draft.value.strength}
        change={(strength) => changeDraft({ strength })}
      />
    );
  }
  if (task === 'text2music' || task === 'edit') return null;
  return (
    <Slider
      label="How new"
      min={0.05}
      max={1}
      step={0.05}
      text={percent}
      value={draft.value.variance}
      change={(variance) => changeDraft({ variance })}
    />
  );
}

function NumbersField({ task }: { task: Task }) {
  const { seconds, seed, variations } = draft.value;
  return (
    <div class="grid-3">
      {task === 'text2music' && (
        <NumberField
          label="Seconds"
          min={1}
          max={240}
          step={1}
          placeholder="automatic"
          value={seconds}
          change={(value) => changeDraft({ seconds: value })}
        />
      )}
      <NumberField
        label="Variations"
        min={1}
        max={16}
        step={1}
        value={variations}
        change={(value) => changeDraft({ variations: Math.max(1, Math.round(value ?? 1)) })}
      />
      <NumberField
        label="Seed"
        min={0}
        step={1}
        placeholder="by chance"
        value={seed}
        change={(value) => changeDraft({ seed: value })}
      />
    </div>
  );
}

const advancedGroups = ['Sampling', 'Sound'];
const leftOut = ['out_dir', 'basename'];

function Advanced() {
  const options = commandOf('run', 'acestep')?.options ?? [];
  const shown = options.filter(
    ({ group, key }) => advancedGroups.includes(group) && !leftOut.includes(key),
  );
  if (shown.length === 0) return null;
  return (
    <details>
      <summary>All settings</summary>
      <OptionForm
        options={shown}
        values={draft.value.settings}
        change={(key, value) => {
          const settings = { ...draft.value.settings };
          if (value === undefined) delete settings[key];
          else settings[key] = value;
          changeDraft({ settings });
        }}
      />
    </details>
  );
}

function MakeButton({ task, seconds }: { task: Task; seconds: number }) {
  const [reason, setReason] = useState('');
  const start = () => {
    const why = whyNotYet(task, draft.value);
    setReason(why);
    const model = chosenModel('acestep');
    if (why || !model) return;
    void attempt.run(async () => {
      const job = await startJob(songRequest(task, draft.value, model.ref, seconds, drawSeed));
      begun.value = [job.id, ...begun.value].slice(0, 20);
    });
  };
  return (
    <div class="make-bar stack tight">
      <div class="row">
        <button type="button" class="main" disabled={attempt.busy.value} onClick={start}>
          <Sign name="music" />
          Make the song
        </button>
        {reason && (
          <p class="bad-words" role="alert">
            {reason}
          </p>
        )}
      </div>
      <Fault text={attempt.fault} />
    </div>
  );
}

/** What was begun here and all songs under way, done or failed ones until the page goes. */
function SongJobs() {
  const songs = collections.song.items.value.flatMap(songsOf);
  const shown = jobs.value.filter(
    (job) =>
      job.family === 'acestep' &&
      job.verb === 'run' &&
      (isActive(job) || (begun.value.includes(job.id) && job.state !== 'cancelled')),
  );
  const rows = shown.slice(0, 4).flatMap((job) => {
    if (job.state !== 'succeeded') return [<JobRow key={job.id} job={job} />];
    const made = songs.filter(({ item }) => item.id === job.result);
    return made.map((song) => <SongRow key={song.sound.ref} song={song} following={[]} />);
  });
  if (rows.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="making-title">
      <h2 id="making-title">{shown.some(isActive) ? 'In the making' : 'Just made'}</h2>
      <ul class="songs">{rows}</ul>
    </section>
  );
}

function JobRow({ job }: { job: Job }) {
  return (
    <li class="song making">
      <strong class="ellipsis">{job.title}</strong>
      <JobLine job={job} />
    </li>
  );
}

export function SongForm() {
  const task = currentTask();
  const { source } = draft.value;
  const { wave, fault } = useWave(needsSource(task) ? source?.url : undefined);
  return (
    <>
      <SongJobs />
      <section class="panel stack" aria-label="The song">
        <Segments
          label="Task"
          isLabelUnseen
          value={task}
          choices={tasks.map((value) => ({ value, text: taskTitles[value] }))}
          change={(value) => setParams({ task: value === 'text2music' ? '' : value }, true)}
        />
        <p class="soft">{taskWords[task]}</p>
        {needsSource(task) && <SourceField task={task} wave={wave} fault={fault} />}
        {task === 'text2music' && <PresetField />}
        <TagsField />
        {task === 'edit' && <EditFields />}
        <LyricsField />
        <AmountField task={task} />
        <NumbersField task={task} />
        <AdapterField />
        <Advanced />
        <MakeButton task={task} seconds={wave?.seconds ?? 0} />
      </section>
    </>
  );
}
