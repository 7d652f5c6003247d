// SPDX-License-Identifier: Apache-2.0
// Which model: a list of those beside the page and those a person added. What a model is, the page
// shows itself.
import { listModels } from '../models/files';
import { type ModelFolder, servedFolder } from '../models/folder';
import { byId, make } from './elements';

const select = byId('model', HTMLSelectElement);
const folders: ModelFolder[] = []; // in the order of the select's options

function offer(folder: ModelFolder, title: string): void {
  folders.push(folder);
  select.append(make('option', { value: String(folders.length - 1) }, title));
  select.disabled = false;
}

/** Lists what is served beside the page; none is no error: a person can add one. */
export async function offerServedModels(): Promise<ModelFolder | undefined> {
  select.disabled = true;
  const names = await listModels(servedFolder('models/', 'models'));
  for (const name of names) offer(servedFolder(`models/${encodeURIComponent(name)}/`, name), name);
  return folders[0];
}

/** Adds it to the list and selects it. */
export function offerAdded(folder: ModelFolder, title: string): void {
  offer(folder, `${title} (added)`);
  markChosen(folder);
}

/** Shows it as selected; none where it is not in the list. */
export function markChosen(folder: ModelFolder | undefined): void {
  select.selectedIndex = folder ? folders.indexOf(folder) : -1;
}

export function onModelChosen(
  choose: (folder: ModelFolder) => void,
  add: (files: File[]) => void,
): void {
  select.addEventListener('change', () => choose(folders[Number(select.value)]));
  const input = byId('model-files', HTMLInputElement);
  input.addEventListener('change', () => {
    const files = [...(input.files ?? [])];
    input.value = '';
    if (files.length > 0) add(files);
  });
}
