// SPDX-License-Identifier: Apache-2.0
// Reads ubique.json and refuses what this page could not run, before any larger file is asked for.
import { ModelError, isFields, parseJson } from '../../../shared/models/files';
import type { Manifest } from '../model';

const LONGEST = 4096; // of a frame's sides

function isSize(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length === 2 &&
    value.every((length) => Number.isInteger(length) && length >= 1 && length <= LONGEST)
  );
}

function isPicture(value: unknown): boolean {
  return (
    isFields(value) &&
    typeof value.file === 'string' &&
    typeof value.values === 'string' &&
    isSize(value.size) &&
    isSize(value.frame)
  );
}

/** What is wrong with it, for people. */
function problemOf(value: unknown): string | undefined {
  if (!isFields(value) || value.format !== 'ubique.web-model') {
    return "format is not 'ubique.web-model'";
  }
  if (value.version !== 1) return `version is ${String(value.version)}, and this page knows 1`;
  if (value.family !== 'msinet') return `family is '${String(value.family)}', expected 'msinet'`;
  const { check, files, pad, picture, size, sizes } = value;
  if (!isSize(size)) return 'size has not a height and a width';
  if (!(Array.isArray(sizes) && sizes.length > 0 && sizes.every(isSize))) {
    return 'sizes is no list of heights and widths';
  }
  if (!(typeof pad === 'number' && pad >= 0 && pad <= 255)) return 'pad is not from 0 to 255';
  if (!(isFields(files) && typeof files.onnx === 'string')) return 'files does not name onnx';
  if (!(isFields(check) && typeof check.file === 'string' && isSize(check.shape))) {
    return 'check does not name a file and a shape';
  }
  return isPicture(picture) ? undefined : 'picture does not name files and sizes';
}

export function parseManifest(text: string): Manifest {
  const value = parseJson(text, 'ubique.json');
  const problem = problemOf(value);
  if (problem !== undefined) {
    throw new ModelError(
      `ubique.json does not describe a model that this page can run: ${problem}. Export it again ` +
        'with `ubique export msinet --format web`.',
    );
  }
  return value as Manifest;
}
