// SPDX-License-Identifier: Apache-2.0
// From a model's folder to everything the engines need, with every length checked against what the
// files say of each other.
import { loadFloats, loadOnnx, textOf } from '../../../shared/models/files';
import type { ModelFolder } from '../../../shared/models/folder';
import { type LoadedModel, type Manifest, areaOf } from '../model';
import { parseManifest } from './manifest';

const COLOURS = 3;

async function loadCheck(
  folder: ModelFolder,
  { check }: Manifest,
): Promise<LoadedModel['check']> {
  const area = areaOf(check.shape);
  const values = await loadFloats(folder, check.file, area * (COLOURS + 1));
  return { input: values.subarray(0, area * COLOURS), map: values.subarray(area * COLOURS) };
}

async function loadPicture(
  folder: ModelFolder,
  { picture }: Manifest,
): Promise<LoadedModel['picture']> {
  const area = areaOf(picture.frame);
  const count = area * (COLOURS + 1) + areaOf(picture.size);
  const [file, values] = await Promise.all([
    folder.read(picture.file),
    loadFloats(folder, picture.values, count),
  ]);
  return {
    file,
    frame: values.subarray(0, area * COLOURS),
    map: values.subarray(area * COLOURS, area * (COLOURS + 1)),
    whole: values.subarray(area * (COLOURS + 1)),
  };
}

export async function loadModel(folder: ModelFolder): Promise<LoadedModel> {
  const manifest = parseManifest(textOf(await folder.read('ubique.json')));
  const [onnx, check, picture] = await Promise.all([
    loadOnnx(folder, manifest.files.onnx),
    loadCheck(folder, manifest),
    loadPicture(folder, manifest),
  ]);
  return { manifest, onnx, check, picture };
}
