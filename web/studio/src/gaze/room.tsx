// SPDX-License-Identifier: Apache-2.0
// Gaze: pictures are dropped, the machine says where people will look.
import { useEffect, useState } from 'preact/hooks';
import { makeScene } from '../../../saliency/src/pictures/scene';
import { messageOf } from '../api/client';
import type { Item } from '../api/types';
import { uploadAll } from '../api/uploads';
import { handOut } from '../../../shared/page/downloads';
import { greyPicture } from '../../../saliency/src/looks/heatmap';
import { isActive } from '../state/job-store';
import { startJob } from '../state/jobs';
import { fileOfPath } from '../state/library';
import { chosenModel, models } from '../state/models';
import { useResult } from '../state/result';
import { param, setParams } from '../state/route';
import { plural } from '../state/words';
import { DropZone } from '../ui/drop-zone';
import { ItemList } from '../ui/item-list';
import { JobLine } from '../ui/job-line';
import { ModelChoice, MoreModels, NoModel } from '../ui/model-choice';
import { Attempt, Fault, Notice } from '../ui/notice';
import { Sign } from '../ui/sign';
import { openPicture } from '../../../saliency/src/pictures/open';
import { BoxTable } from './box-table';
import { boxesText, parseBoxes } from './boxes';
import { LookPanel } from './look';
import { asFile, loadMap, loadPicture, pngOf, suitsFullPrecision } from './pictures';
import { GazeStage, type Scene, drawScene } from './stage';
import './gaze.css';

const attempt = new Attempt();
const uploadAddress = (ref: string) =>
  `api/uploads/${encodeURIComponent(ref.replace(/^upload:/, ''))}`;

async function look(files: File[]): Promise<void> {
  const model = chosenModel('msinet');
  if (!model) return;
  await attempt.run(async () => {
    const sizes = await Promise.all(files.map((file) => openPicture(file, file.name)));
    const uploads = await uploadAll(files);
    const format = sizes.every(suitsFullPrecision) ? 'npy' : 'png';
    const job = await startJob({
      verb: 'run',
      family: 'msinet',
      model: model.ref,
      inputs: uploads.map(({ ref }) => ref),
      options: { format, overlay: false },
      title:
        files.length === 1
          ? files[0].name
          : `${files[0].name} and ${plural(files.length - 1, 'other')}`,
    });
    setParams({ job: job.id, item: '', n: '', boxes: '' }, true);
  });
}

const sample = async () => {
  const seed = 1 + Math.floor(Math.random() * 999);
  await look([await asFile(makeScene(seed), `odd_one_out_${seed}.png`)]);
};

interface Found {
  input: string; // reference of the picture
  name: string;
  map: string; // path of the map, as the outcome names it
}

export function foundIn(item: Item): Found[] {
  const results =
    (item.outcome as { results?: { input: string; map: string }[] } | null)?.results ?? [];
  return results.map(({ input, map }, i) => {
    const ref = item.request.inputs?.[i];
    return {
      input: typeof ref === 'string' ? ref : '',
      name: input.split('/').at(-1) ?? input,
      map,
    };
  });
}

/** The picture and the map of one result. */
function useScene(
  item: Item | undefined,
  found: Found | undefined,
): { scene?: Scene; fault: string } {
  const key = item && found ? `${item.id} ${found.map}` : '';
  const [state, setState] = useState<{ key: string; scene?: Scene; fault: string }>({
    key: '',
    fault: '',
  });
  useEffect(() => {
    let isMine = true;
    if (!item || !found) return undefined;
    const load = async () => {
      const file = fileOfPath(item, found.map);
      if (!file) throw new Error('The map is not among the files of this result.');
      const [pixels, map] = await Promise.all([
        loadPicture(uploadAddress(found.input), found.name),
        loadMap(file),
      ]);
      if (isMine) setState({ key, scene: { pixels, map }, fault: '' });
    };
    load().catch((error) => isMine && setState({ key, fault: messageOf(error) }));
    return () => {
      isMine = false;
    };
  }, [key]);
  return state.key === key ? state : { fault: '' };
}

function Strip({ found, chosen }: { found: Found[]; chosen: number }) {
  if (found.length < 2) return null;
  return (
    <div class="strip" role="group" aria-label="Pictures">
      {found.map(({ input, name }, i) => (
        <button
          key={input}
          type="button"
          aria-pressed={i === chosen}
          title={name}
          onClick={() => setParams({ n: i === 0 ? '' : String(i), boxes: '' }, true)}
        >
          <img src={uploadAddress(input)} alt={name} loading="lazy" />
        </button>
      ))}
    </div>
  );
}

function Keep({ scene, name }: { scene: Scene; name: string }) {
  const stem = name.replace(/\.[^.]+$/, '');
  const hand = (what: string) =>
    attempt.run(async () => {
      const pixels =
        what === 'map' && scene.map ? greyPicture(scaled(scene.map)) : drawScene(scene);
      handOut(await pngOf(pixels), `${stem}_${what}.png`);
    });
  return (
    <div class="row">
      <button type="button" onClick={() => hand('shown')}>
        <Sign name="download" />
        What is shown
      </button>
      <button type="button" onClick={() => hand('map')}>
        <Sign name="download" />
        Map
      </button>
    </div>
  );
}

/** From its lowest to its highest value as 0 to 255. */
function scaled(map: NonNullable<Scene['map']>) {
  const range = map.max - map.min || 1;
  return { ...map, values: map.values.map((value) => (255 * (value - map.min)) / range) };
}

export default function GazeRoom() {
  const { job, item, fault } = useResult(param('job'), param('item'));
  const found = item ? foundIn(item) : [];
  const chosen = Math.min(Math.max(0, Number(param('n')) || 0), Math.max(0, found.length - 1));
  const { scene, fault: sceneFault } = useScene(item, found[chosen]);
  const boxes = parseBoxes(param('boxes'));
  const hasModel = chosenModel('msinet') !== undefined;
  const isBusy = attempt.busy.value || (job !== undefined && isActive(job));
  const words = isBusy ? 'Looking…' : item && !fault ? 'Loading…' : 'The picture appears here.';
  return (
    <>
      <div class="room-head">
        <div>
          <h1>Gaze</h1>
          <p class="soft">Where people look first in a picture.</p>
        </div>
        <ModelChoice family="msinet" />
      </div>
      <div class="columns">
        <div class="stack">
          {models.value && !hasModel && <NoModel family="msinet" />}
          {hasModel && (
            <section class="panel stack" aria-labelledby="pictures-title">
              <h2 id="pictures-title">Pictures</h2>
              <DropZone
                label="Choose pictures…"
                many
                takesPasted
                accept="image/*"
                take={look}
                hint="PNG or JPEG. Drop them here, or paste one."
              >
                <button type="button" disabled={isBusy} onClick={sample}>
                  <Sign name="spark" />
                  Make one up
                </button>
              </DropZone>
              <Fault text={attempt.fault} />
              {job && !item && <JobLine job={job} />}
            </section>
          )}
          {scene && <LookPanel />}
          <ItemList kind="saliency" title="Earlier pictures" />
          {hasModel && <MoreModels family="msinet" />}
        </div>
        <div class="stack">
          {(fault || sceneFault) && <Notice kind="bad">{fault || sceneFault}</Notice>}
          <section class="panel bare" aria-label="Picture">
            <GazeStage
              scene={scene}
              boxes={boxes}
              words={words}
              change={(next) => setParams({ boxes: boxesText(next) })}
            />
            {scene && found[chosen] && (
              <div class="stage-bar">
                <p class="grow ellipsis">{found[chosen].name}</p>
                <Keep scene={scene} name={found[chosen].name} />
              </div>
            )}
          </section>
          <Strip found={found} chosen={chosen} />
          {scene?.map && (
            <BoxTable
              map={scene.map}
              boxes={boxes}
              name={found[chosen]?.name ?? ''}
              change={(next) => setParams({ boxes: boxesText(next) })}
            />
          )}
        </div>
      </div>
    </>
  );
}
