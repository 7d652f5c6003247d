// SPDX-License-Identifier: Apache-2.0
// Where the page starts: connects what a person does with what happens.
import { createRunner } from '../engines';
import { App } from './app';
import { onDrop } from '../../../shared/page/dropping';
import { prepareEngineChoice } from './engine-panel';
import { isolate } from '../../../shared/page/isolation';
import { showError } from '../../../shared/page/messages';
import { offerServedModels, onModelChosen } from '../../../shared/page/model-list';
import { onCancel, onStart } from './run-panel';
import { onScanChosen } from './scan-panel';

const app = new App(createRunner());

onDrop((files) => app.takeFiles(files));
onScanChosen(
  (file) => void app.openScan({ kind: 'file', file }),
  () => app.openHead(),
);
onModelChosen(
  (folder) => void app.chooseModel(folder),
  (files) => void app.addModel(files),
);
onStart(() => void app.segment());
onCancel(() => app.cancel());
prepareEngineChoice(() => void app.planAgain());

async function offerModels(): Promise<void> {
  try {
    const first = await offerServedModels();
    if (first) await app.chooseModel(first);
  } catch (error) {
    showError(error);
  }
}

if (!(await isolate(() => app.untouched))) await offerModels();
