// SPDX-License-Identifier: Apache-2.0
// Brain: a scan is dropped, the machine labels its voxels, the volumes stand in a table.
import { signal } from '@preact/signals';
import { send } from '../api/client';
import type { Item, Options } from '../api/types';
import { upload } from '../api/uploads';
import { startJob } from '../state/jobs';
import { isActive } from '../state/job-store';
import { chosenModel, models } from '../state/models';
import { useResult } from '../state/result';
import { param, setParams } from '../state/route';
import { DropZone } from '../ui/drop-zone';
import { Select } from '../ui/fields';
import { ItemList } from '../ui/item-list';
import { JobLine } from '../ui/job-line';
import { ModelChoice, MoreModels, NoModel } from '../ui/model-choice';
import { Attempt, Fault, Notice } from '../ui/notice';
import { Sign } from '../ui/sign';
import { type Segmented, segmentedOf } from './outcome';
import { sampleHead } from './sample';
import { BrainStage, type Shown } from './stage';
import { VolumeTable } from './volume-table';

const attempt = new Attempt();
const local = signal<{ ref: string; file: File } | undefined>(undefined); // just dropped
const uploading = signal(0);
const islands = signal('none');

async function take(file: File): Promise<void> {
  setParams({ scan: '', name: '', job: '', item: '' }, true);
  local.value = { ref: '', file };
  uploading.value = 0.01;
  await attempt.run(async () => {
    try {
      const { ref } = await upload(file, { progress: (part) => (uploading.value = part) });
      local.value = { ref, file };
      setParams({ scan: ref, name: file.name });
    } catch (error) {
      local.value = undefined;
      throw error;
    } finally {
      uploading.value = 0;
    }
  });
}

const islandChoices = [
  { value: 'none', text: 'Keep all' },
  { value: 'largest', text: 'Keep the largest of each label' },
  { value: 'min-size:50', text: 'Remove those below 50 mm³' },
];

async function segment(scan: string, name: string): Promise<void> {
  const model = chosenModel('meshnet');
  if (!model) return;
  const options: Options = islands.value === 'none' ? {} : { components: islands.value };
  await attempt.run(async () => {
    const job = await startJob({
      verb: 'run',
      family: 'meshnet',
      model: model.ref,
      inputs: [scan],
      options,
      title: name || 'Scan',
    });
    setParams({ job: job.id, item: '' }, true);
  });
}

const uploadAddress = (ref: string) =>
  `api/uploads/${encodeURIComponent(ref.replace(/^upload:/, ''))}`;

/** The scan that the address names: one that was just dropped, or one that the server keeps. */
function shownScan(scan: string, name: string): Shown | undefined {
  const dropped = local.value;
  if (dropped && (scan === '' || dropped.ref === scan)) {
    const { file } = dropped;
    return {
      name: file.name,
      key: `${file.name} ${file.size} ${file.lastModified}`,
      bytes: () => file.arrayBuffer(),
    };
  }
  if (!scan) return undefined;
  const bytes = async () => (await send(uploadAddress(scan))).arrayBuffer();
  return { name: name || 'scan.nii.gz', key: scan, bytes };
}

function scanOf(item: Item | undefined): string {
  const [input] = item?.request.inputs ?? [];
  return typeof input === 'string' ? input : '';
}

function ScanPanel({ scan, name, canStart }: { scan: string; name: string; canStart: boolean }) {
  return (
    <section class="panel stack" aria-labelledby="scan-title">
      <h2 id="scan-title">Scan</h2>
      <DropZone
        label="Choose a scan…"
        hint="NIfTI (.nii or .nii.gz); you can also drop it here."
        take={([file]) => take(file)}
      >
        <button type="button" onClick={() => take(sampleHead(1 + Math.floor(Math.random() * 999)))}>
          <Sign name="spark" />
          Make up a head
        </button>
      </DropZone>
      {uploading.value > 0 && <progress value={uploading.value} max={1} aria-label="Upload" />}
      {name && <p class="anywhere">{name}</p>}
      <Select
        label="Small islands"
        value={islands.value}
        choices={islandChoices}
        change={(value) => (islands.value = value)}
      />
      <div class="row">
        <button
          type="button"
          class="main"
          disabled={!scan || !canStart || attempt.busy.value}
          onClick={() => segment(scan, name)}
        >
          Segment
        </button>
        {!scan && <p class="soft small">Choose a scan first.</p>}
      </div>
      <Fault text={attempt.fault} />
    </section>
  );
}

function Findings({ segmented, item }: { segmented: Segmented; item: Item }) {
  return (
    <>
      {segmented.error && <Notice kind="bad">{segmented.error}</Notice>}
      {segmented.warnings.map((text) => (
        <Notice key={text} kind="warn">
          {text}
        </Notice>
      ))}
      {!segmented.error && <VolumeTable segmented={segmented} item={item} />}
    </>
  );
}

export default function BrainRoom() {
  const { job, item, fault } = useResult(param('job'), param('item'));
  const segmented = item && segmentedOf(item);
  const scan = param('item') ? scanOf(item) : param('scan');
  const name = param('item') ? (item?.title ?? '') : param('name');
  const shown = param('item') && !item ? undefined : shownScan(scan, name);
  const hasModel = chosenModel('meshnet') !== undefined;
  const isBusy = job !== undefined && isActive(job);
  return (
    <>
      <div class="room-head">
        <div>
          <h1>Brain</h1>
          <p class="soft">Label every voxel of a scan, and measure what was found.</p>
        </div>
        <ModelChoice family="meshnet" />
      </div>
      <div class="columns">
        <div class="stack">
          {models.value && !hasModel && <NoModel family="meshnet" />}
          <ScanPanel scan={scan} name={name} canStart={hasModel && !isBusy} />
          {fault && <Notice kind="bad">{fault}</Notice>}
          {job && !item && (
            <section class="panel">
              <JobLine job={job} />
            </section>
          )}
          <ItemList kind="scan" title="Earlier scans" />
          {hasModel && <MoreModels family="meshnet" />}
        </div>
        <div class="stack">
          <BrainStage shown={shown} segmented={segmented} />
          {segmented && item && <Findings segmented={segmented} item={item} />}
          <p class="hint">Not a medical device: do not use it for diagnosis or treatment.</p>
        </div>
      </div>
    </>
  );
}
