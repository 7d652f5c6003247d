// SPDX-License-Identifier: Apache-2.0
// Files that every model's folder has, read and checked: JSON, an ONNX file, numbers; and the list
// of folders beside a page. What they mean is the pages' business.
import type { ModelFolder } from './folder';

export class ModelError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ModelError';
  }
}

export function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

export function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const page = /^\s*</.test(text);
    const what = page ? 'a web page came instead, so it is probably missing' : 'it is damaged';
    throw new ModelError(`${name} is not JSON: ${what}. Export the model again.`);
  }
}

export type Fields = Record<string, unknown>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export async function loadOnnx(folder: ModelFolder, file: string): Promise<Uint8Array> {
  const bytes = await folder.read(file);
  // The first field of every ONNX file is its version, a small whole number.
  if (bytes.length < 64 || bytes[0] !== 0x08) {
    throw new ModelError(
      `${folder.name}: ${file} is not an ONNX file (${bytes.length} bytes). Copy the whole ` +
        'folder again.',
    );
  }
  return bytes;
}

/** Exactly so many f32 values, little-endian. */
export async function loadFloats(
  folder: ModelFolder,
  file: string,
  count: number,
): Promise<Float32Array> {
  const bytes = await folder.read(file);
  if (bytes.length !== count * 4) {
    throw new ModelError(
      `${folder.name}: ${file} has ${bytes.length} bytes, expected ${count * 4}. It is damaged ` +
        'or of another model; copy the whole folder again.',
    );
  }
  return new Float32Array(bytes.slice().buffer);
}

/** models/index.json, which lists the folders that have a ubique.json. */
export interface ModelIndex {
  format: 'ubique.web-models';
  version: 1;
  models: string[]; // folder names beside the index
}

function parseIndex(text: string): string[] {
  const value = parseJson(text, 'models/index.json') as Partial<ModelIndex>;
  if (value?.format !== 'ubique.web-models' || !Array.isArray(value.models)) {
    throw new ModelError(
      "models/index.json is not a list of models: format is not 'ubique.web-models'.",
    );
  }
  return value.models.map(String);
}

/** Names of the folders in models/. */
export async function listModels(models: ModelFolder): Promise<string[]> {
  return parseIndex(textOf(await models.read('index.json')));
}
