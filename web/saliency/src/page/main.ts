// SPDX-License-Identifier: Apache-2.0
// Where the page starts: connects what a person does with what happens.
import { onDrop } from '../../../shared/page/dropping';
import { byId } from '../../../shared/page/elements';
import { isolate } from '../../../shared/page/isolation';
import { showError } from '../../../shared/page/messages';
import { offerServedModels, onModelChosen } from '../../../shared/page/model-list';
import { createRunner } from '../engines';
import { App } from './app';
import { prepareBoxes } from './boxes-panel';
import { onCamera } from './camera-panel';
import { prepareEngineChoice } from './engine-panel';
import { prepareLooks } from './look-panel';
import { onSize } from './model-panel';
import { onPicturesChosen } from './picture-panel';

const app = new App(createRunner());

onDrop((files) => app.takeFiles(files));
onPicturesChosen(
  (files) => app.addPictures(files),
  () => app.makeSample(),
);
onCamera(
  () => void app.toggleCamera(),
  () => void app.changeCamera(),
);
onModelChosen(
  (folder) => void app.desk.choose(folder),
  (files) => void app.desk.add(files),
);
onSize(() => void app.refresh());
prepareEngineChoice(() => void app.desk.chooseAgain());
prepareLooks(() => app.redraw());
prepareBoxes();
byId('download-map', HTMLButtonElement).addEventListener('click', () => void app.keep('map'));
byId('download-overlay', HTMLButtonElement).addEventListener(
  'click',
  () => void app.keep('overlay'),
);

async function offerModels(): Promise<void> {
  try {
    const first = await offerServedModels();
    if (first) await app.desk.choose(first);
  } catch (error) {
    showError(error);
  }
}

if (!(await isolate(() => app.untouched))) await offerModels();
