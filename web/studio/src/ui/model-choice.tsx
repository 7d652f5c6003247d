// SPDX-License-Identifier: Apache-2.0
// Which model a room uses; and what to do where there is none: train a small one here, fetch one, or
// name a folder.
import { signal } from '@preact/signals';
import { api } from '../api/client';
import type { FamilyName, Model } from '../api/types';
import { isActive } from '../state/job-store';
import { jobs, startJob } from '../state/jobs';
import { chooseModel, chosenModel, loadModels, modelsOf } from '../state/models';
import { session } from '../state/session';
import { bytesText } from '../state/words';
import { TextField, Select } from './fields';
import { JobLine } from './job-line';
import { Attempt, Empty, Fault } from './notice';
import { Sign, type SignName } from './sign';

const sources: Record<Model['source'], string> = {
  shipped: 'Comes with the program',
  run: 'Trained here',
  pulled: 'Downloaded',
  folder: 'Added',
};

export function ModelChoice({ family }: { family: FamilyName }) {
  const all = modelsOf(family);
  const chosen = chosenModel(family);
  if (!all || !chosen) return null;
  const choices = all.map((model) => ({
    value: model.ref,
    text: `${model.name} (${bytesText(model.bytes)})`,
    group: sources[model.source] ?? 'Others',
  }));
  return (
    <div class="model-choice">
      <Select
        label="Model"
        value={chosen.ref}
        choices={choices}
        change={(ref) => chooseModel(family, ref)}
      />
    </div>
  );
}

interface Offer {
  sign: SignName;
  title: string;
  words: string;
  train?: { button: string; options?: Record<string, boolean | string> };
  pull?: { repository: string; button: string; words: string };
}

const offers: Record<FamilyName, Offer> = {
  meshnet: {
    sign: 'brain',
    title: 'There is no segmentation model yet',
    words:
      'A small one can be trained on this machine, on heads that the program makes up. It takes about two minutes on two processor cores.',
    train: { button: 'Train a small model' },
  },
  msinet: {
    sign: 'gaze',
    title: 'There is no attention model yet',
    words:
      'A small one can be trained on this machine, on scenes in which one thing is odd. It takes about a minute and a half.',
    train: { button: 'Train a small model' },
  },
  trm: {
    sign: 'puzzles',
    title: 'There is no puzzle model yet',
    words:
      'A small one can be trained on this machine. It learns sudokus of 4 by 4 in about a minute.',
    train: { button: 'Train a small model' },
  },
  codelm: {
    sign: 'code',
    title: 'There is no code model yet',
    words:
      'A small one can be trained on the Python library of this machine, in some minutes; it completes a little. A model from Hugging Face does much better.',
    train: { button: 'Train a small model' },
    pull: {
      repository: 'bigcode/tiny_starcoder_py',
      button: 'Download',
      words: 'Any StarCoder-like model of Hugging Face. tiny_starcoder_py has 0.7 GB.',
    },
  },
  acestep: {
    sign: 'music',
    title: 'There is no music model yet',
    words:
      'Download ACE-Step, which sings and plays whatever you describe. It needs about 8 GB of disk, and a graphics card or patience.',
    pull: {
      repository: 'ACE-Step/ACE-Step-v1-3.5B',
      button: 'Download',
      words: 'The released weights (Apache-2.0).',
    },
  },
};

const attempt = new Attempt();
const repository = signal<Partial<Record<FamilyName, string>>>({});
const folder = signal('');

function Pull({ family, pull }: { family: FamilyName; pull: NonNullable<Offer['pull']> }) {
  const name = repository.value[family] ?? pull.repository;
  const start = () =>
    attempt.run(() =>
      startJob({
        verb: 'pull',
        inputs: [`hf:${name.trim().replace(/^hf:/, '')}`],
        title: `Download ${name}`,
      }),
    );
  return (
    <form
      class="stack tight"
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <TextField
        label="From Hugging Face"
        value={name}
        change={(text) => (repository.value = { ...repository.value, [family]: text })}
        hint={pull.words}
      />
      <div class="row">
        <button type="submit">
          <Sign name="download" />
          {pull.button}
        </button>
      </div>
    </form>
  );
}

function AddFolder() {
  const add = () =>
    attempt.run(async () => {
      await api.post('api/models', { path: folder.value.trim() });
      folder.value = '';
      await loadModels();
    });
  return (
    <form
      class="stack tight"
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <TextField
        label="A folder or file of this machine"
        value={folder.value}
        change={(text) => (folder.value = text)}
        placeholder="/home/me/models/…"
      />
      <div class="row">
        <button type="submit" disabled={folder.value.trim() === ''}>
          <Sign name="plus" />
          Add it
        </button>
      </div>
    </form>
  );
}

export function MoreModels({ family }: { family: FamilyName }) {
  const { pull, train } = offers[family];
  return (
    <details class="more-models">
      <summary>Other models</summary>
      <div class="panel stack">
        {train && <TrainSmall family={family} />}
        {session.value?.has.pull && pull && <Pull family={family} pull={pull} />}
        <AddFolder />
        <Fault text={attempt.fault} />
      </div>
    </details>
  );
}

function TrainSmall({ family, isMain = false }: { family: FamilyName; isMain?: boolean }) {
  const { train } = offers[family];
  if (!train) return null;
  const start = () =>
    attempt.run(() =>
      startJob({
        verb: 'demo',
        family,
        options: train.options ?? {},
        title: 'Train a small model',
      }),
    );
  return (
    <div class="row">
      <button
        type="button"
        class={isMain ? 'main' : ''}
        disabled={attempt.busy.value}
        onClick={start}
      >
        <Sign name="spark" />
        {train.button}
      </button>
    </div>
  );
}

/** Jobs that will bring a model of this family. */
const comingModels = (family: FamilyName) =>
  jobs.value.filter(
    (job) =>
      (isActive(job) || job.state === 'failed') &&
      ((job.verb === 'demo' && job.family === family) || job.verb === 'pull'),
  );

/** In the place of a room that has no model; nothing while it is not known. */
export function NoModel({ family }: { family: FamilyName }) {
  const offer = offers[family];
  const coming = comingModels(family);
  const running = coming.find(isActive);
  return (
    <section class="panel">
      <Empty sign={offer.sign} title={running ? 'The model is being made' : offer.title}>
        <p>{running ? 'This page goes on by itself when it is there.' : offer.words}</p>
        {!running && <TrainSmall family={family} isMain />}
      </Empty>
      <div class="stack">
        {(running ? [running] : coming.slice(0, 1)).map((job) => (
          <JobLine key={job.id} job={job} />
        ))}
        <Fault text={attempt.fault} />
        {!running && offer.pull && session.value?.has.pull && (
          <Pull family={family} pull={offer.pull} />
        )}
        {!running && (
          <details>
            <summary>I have a model on this machine</summary>
            <AddFolder />
          </details>
        )}
      </div>
    </section>
  );
}
