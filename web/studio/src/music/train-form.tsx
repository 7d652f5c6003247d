// SPDX-License-Identifier: Apache-2.0
// Teaching the model a style: songs with their tags, then a training that can be listened to while
// it runs. Two jobs one after the other: the songs are encoded, then an adapter is trained on them.
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { uploadAll } from '../api/uploads';
import type { Input, Item, Job, Options } from '../api/types';
import { isActive } from '../state/job-store';
import { startJob } from '../state/jobs';
import { collections, fetchItem } from '../state/library';
import { chosenModel } from '../state/models';
import { param, setParams } from '../state/route';
import { commandOf } from '../state/session';
import { bytesText, plural } from '../state/words';
import { DropZone } from '../ui/drop-zone';
import { NumberField, TextField } from '../ui/fields';
import { JobLine, jobById } from '../ui/job-line';
import { Attempt, Fault, Notice } from '../ui/notice';
import { OptionForm } from '../ui/option-form';
import { Sign } from '../ui/sign';
import { Curve } from '../ui/curve';
import { useRun } from '../state/runs';
import { isSound, textsFor } from './training-files';

const files = signal<File[]>([]);
const tags = signal('');
const name = signal('My style');
const settings = signal<Options>({ max_steps: 200 });
const share = signal(0);
const attempt = new Attempt();

function take(more: File[]): void {
  const known = new Set(more.map((file) => file.name));
  files.value = [...files.value.filter((file) => !known.has(file.name)), ...more];
}

/** Sounds are uploaded; texts that lie beside them go along as they are. */
async function prepare(model: string): Promise<void> {
  const sounds = files.value.filter(isSound);
  const texts = await textsFor(files.value, tags.value);
  const uploads = await uploadAll(sounds, { progress: (part) => (share.value = part) });
  const folder = [...uploads.map(({ ref }) => ref), ...texts];
  const job = await startJob({
    verb: 'data',
    family: 'acestep',
    name: 'prepare',
    inputs: [{ folder } as Input],
    model,
    options: { val_share: 0 },
    title: `Songs for ${name.value}`,
  });
  setParams({ songs: job.id });
}

async function train(prepared: Item, model: string): Promise<void> {
  const options: Options = { ...settings.value, data: `library:${prepared.id}` };
  if (tags.value.trim() && !options.preview_tags) options.preview_tags = tags.value.trim();
  const job = await startJob({
    verb: 'train',
    family: 'acestep',
    model,
    options,
    title: name.value || 'Style',
  });
  setParams({ training: job.id });
}

function FileList() {
  const sounds = files.value.filter(isSound);
  if (files.value.length === 0) return null;
  const bytes = sounds.reduce((sum, file) => sum + file.size, 0);
  return (
    <div class="row apart">
      <p>
        {plural(sounds.length, 'song')}, {bytesText(bytes)}
        {files.value.length > sounds.length &&
          `, ${plural(files.value.length - sounds.length, 'text')}`}
      </p>
      <button type="button" class="plain" onClick={() => (files.value = [])}>
        <Sign name="close" />
        Remove all
      </button>
    </div>
  );
}

const usefulKeys = [
  'lora_rank',
  'lr',
  'epochs',
  'max_steps',
  'validate_every',
  'preview_seconds',
  'effective_batch',
];

function TrainingSettings() {
  const options = commandOf('train', 'acestep')?.options ?? [];
  const change = (key: string, value: Options[string] | undefined) => {
    const next = { ...settings.value };
    if (value === undefined) delete next[key];
    else next[key] = value;
    settings.value = next;
  };
  return (
    <>
      <NumberField
        label="Updates"
        min={1}
        step={1}
        hint="More teaches more, and takes longer."
        value={typeof settings.value.max_steps === 'number' ? settings.value.max_steps : undefined}
        change={(value) => change('max_steps', value)}
      />
      <details>
        <summary>All settings</summary>
        <OptionForm
          options={options.filter(({ key }) => usefulKeys.includes(key) && key !== 'max_steps')}
          values={settings.value}
          change={change}
        />
      </details>
    </>
  );
}

function Previews({ item }: { item: Item }) {
  const sounds = item.files.filter(({ name: file }) =>
    /previews\/.*\.(wav|flac|ogg|mp3)$/.test(file),
  );
  if (sounds.length === 0) return null;
  return (
    <div class="stack tight">
      <h3>Previews</h3>
      {sounds.map((sound) => (
        <div key={sound.name} class="stack tight">
          <p class="small soft">{sound.name.split('/').at(-1)}</p>
          <audio controls preload="none" src={sound.url} aria-label={`Preview ${sound.name}`} />
        </div>
      ))}
    </div>
  );
}

function useItem(id: string | null | undefined): Item | undefined {
  const [item, setItem] = useState<Item | undefined>(undefined);
  useEffect(() => {
    if (id)
      fetchItem(id)
        .then(setItem)
        .catch(() => setItem(undefined));
  }, [id]);
  return item?.id === id ? item : undefined;
}

function Training({ job }: { job: Job }) {
  const run = useRun(job.id, isActive(job));
  const item = useItem(job.result);
  return (
    <section class="panel stack" aria-label="Training">
      <h2>{job.title}</h2>
      <JobLine job={job}>
        <Notice>The style is ready. Choose it under “Style” when you make a song.</Notice>
      </JobLine>
      {run.rows.length > 1 && <Curve rows={run.rows} name="loss" />}
      {item && <Previews item={item} />}
    </section>
  );
}

function PreparedNext({ job, model }: { job: Job; model: string }) {
  const item = useItem(job.result);
  const hasTraining = param('training') !== '';
  useEffect(() => {
    if (item && !hasTraining && !attempt.busy.value) void attempt.run(() => train(item, model));
  }, [item, hasTraining]);
  return isActive(job) || job.state === 'failed' ? (
    <section class="panel">
      <h2>Reading the songs</h2>
      <JobLine job={job} />
    </section>
  ) : null;
}

export function TrainForm() {
  useEffect(() => void collections.adapter.load().catch(() => undefined), []);
  const model = chosenModel('acestep');
  const [preparing, training] = [jobById(param('songs')), jobById(param('training'))];
  const isBusy = [preparing, training].some((job) => job && isActive(job));
  if (!model) return null;
  const hasSounds = files.value.some(isSound);
  const start = () => {
    setParams({ songs: '', training: '' });
    void attempt.run(() => prepare(model.ref));
  };
  return (
    <>
      {preparing && <PreparedNext job={preparing} model={model.ref} />}
      {training && <Training job={training} />}
      <section class="panel stack" aria-labelledby="style-title">
        <h2 id="style-title">Teach it a style</h2>
        <p class="soft">
          Some songs of one kind teach the model that kind, as an addition of some megabytes.
        </p>
        <DropZone
          label="Choose songs…"
          many
          accept="audio/*,.txt"
          take={take}
          hint="Sound files; beside a.mp3 there may be a_prompt.txt with tags and a_lyrics.txt with words."
        />
        <FileList />
        <TextField
          label="Tags of all songs without a text"
          value={tags.value}
          placeholder="my style, accordion, slow waltz"
          hint="These words call the style up later."
          change={(value) => (tags.value = value)}
        />
        <TextField
          label="Name of the style"
          value={name.value}
          change={(value) => (name.value = value)}
        />
        <TrainingSettings />
        {attempt.busy.value && share.value > 0 && share.value < 1 && (
          <progress value={share.value} max={1} aria-label="Upload" />
        )}
        <div class="row">
          <button
            type="button"
            class="main"
            disabled={!hasSounds || isBusy || attempt.busy.value}
            onClick={start}
          >
            <Sign name="spark" />
            Train
          </button>
          {!hasSounds && <p class="soft small">Choose some songs first.</p>}
        </div>
        <Fault text={attempt.fault} />
      </section>
    </>
  );
}
