// SPDX-License-Identifier: Apache-2.0
// From a model's folder to everything the engines need, with every length checked against what the
// files say of each other.
import { ModelError, loadFloats, loadOnnx, textOf } from '../../../shared/models/files';
import type { ModelFolder } from '../../../shared/models/folder';
import type { LoadedModel } from '../engines/engine';
import type { Manifest } from '../model';
import { parseManifest } from './manifest';

interface WeightEntry {
  shape: number[];
  dtype: string;
  quantization?: { dtype: string };
}

interface WeightGroup {
  paths: string[];
  weights: WeightEntry[];
}

const bytesOf: Record<string, number> = {
  float32: 4,
  int32: 4,
  float16: 2,
  uint16: 2,
  uint8: 1,
  bool: 1,
};

function weightGroups(document: unknown, folder: ModelFolder, file: string): WeightGroup[] {
  const groups = (document as { weightsManifest?: WeightGroup[] } | null)?.weightsManifest;
  const sensible =
    Array.isArray(groups) &&
    groups.length > 0 &&
    groups.every((group) => Array.isArray(group?.paths) && Array.isArray(group?.weights));
  if (!sensible) {
    throw new ModelError(`${folder.name}: ${file} has no weightsManifest. Export the model again.`);
  }
  return groups;
}

function expectedBytes(groups: WeightGroup[]): number {
  let total = 0;
  for (const { weights } of groups) {
    for (const { shape, dtype, quantization } of weights) {
      const count = shape.reduce((product, length) => product * length, 1);
      total += count * (bytesOf[quantization?.dtype ?? dtype] ?? 4);
    }
  }
  return total;
}

function joined(parts: Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0];
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let place = 0;
  for (const part of parts) {
    whole.set(part, place);
    place += part.length;
  }
  return whole;
}

async function loadTfjs(folder: ModelFolder, file: string): Promise<LoadedModel['tfjs']> {
  let document: unknown;
  try {
    document = JSON.parse(textOf(await folder.read(file)));
  } catch (error) {
    if (error instanceof ModelError) throw error;
    throw new ModelError(`${folder.name}: ${file} is not JSON. Export the model again.`);
  }
  const groups = weightGroups(document, folder, file);
  const paths = groups.flatMap((group) => group.paths);
  const weights = joined(await Promise.all(paths.map((path) => folder.read(path))));
  const expected = expectedBytes(groups);
  if (weights.length !== expected) {
    throw new ModelError(
      `${folder.name}: ${paths.join(', ')} has ${weights.length} bytes, and ${file} expects ` +
        `${expected}. The file is damaged or of another model; copy the whole folder again.`,
    );
  }
  return { document, weights };
}

async function loadCheck(folder: ModelFolder, manifest: Manifest): Promise<Float32Array> {
  const { file, shape } = manifest.check;
  const voxels = shape[0] * shape[1] * shape[2];
  return loadFloats(folder, file, voxels * (manifest.in_channels + manifest.classes));
}

export async function readManifest(folder: ModelFolder): Promise<Manifest> {
  return parseManifest(textOf(await folder.read('ubique.json')));
}

export async function loadModel(folder: ModelFolder): Promise<LoadedModel> {
  const manifest = await readManifest(folder);
  const [onnx, tfjs, check] = await Promise.all([
    loadOnnx(folder, manifest.files.onnx),
    loadTfjs(folder, manifest.files.tfjs),
    loadCheck(folder, manifest),
  ]);
  return { manifest, onnx, tfjs, check };
}
