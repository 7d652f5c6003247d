// SPDX-License-Identifier: Apache-2.0
// Reads ubique.json and refuses what this page could not run, before any larger file is asked for.
import { ModelError, isFields, parseJson } from '../../../shared/models/files';
import type { Manifest } from '../model';

function isShape(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length === 3 &&
    value.every((length) => Number.isInteger(length) && length >= 1 && length <= 4096)
  );
}

/** One number for all axes, or three. */
function isSpacing(value: unknown): boolean {
  const lengths = Array.isArray(value) ? value : [value, value, value];
  return lengths.length === 3 && lengths.every((mm) => typeof mm === 'number' && mm > 0);
}

function isLabel(value: unknown): boolean {
  return (
    isFields(value) &&
    typeof value.name === 'string' &&
    Array.isArray(value.colour) &&
    value.colour.length === 3 &&
    value.colour.every((part) => typeof part === 'number')
  );
}

const conforms = ['scipy_zoom', 'nibabel_conform', 'brainchop', 'none'];
const normalizations = ['min_max', 'quantile', 'z_score', 'none'];

function preprocessingProblem(value: unknown): string | undefined {
  if (!isFields(value)) return 'preprocessing is missing';
  if (!conforms.includes(String(value.conform))) return `conform is '${String(value.conform)}'`;
  if (!isShape(value.shape)) return 'preprocessing has no shape of three lengths';
  if (!isSpacing(value.spacing)) return 'spacing is not above 0';
  if (!normalizations.includes(String(value.normalization))) {
    return `normalization is '${String(value.normalization)}'`;
  }
  return undefined;
}

/** What is wrong with it, for people. */
function problemOf(value: unknown): string | undefined {
  if (!isFields(value) || value.format !== 'ubique.web-model') {
    return "format is not 'ubique.web-model'";
  }
  if (value.version !== 1) return `version is ${String(value.version)}, and this page knows 1`;
  if (value.family !== 'meshnet') return `family is '${String(value.family)}'`;
  if (value.in_channels !== 1) return `in_channels is ${String(value.in_channels)}, expected 1`;
  const { classes, labels, layers, files, check } = value;
  if (!(Number.isInteger(classes) && Number(classes) >= 2 && Number(classes) <= 256)) {
    return `classes is ${String(classes)}, expected 2 to 256`;
  }
  if (!(Array.isArray(labels) && labels.length === classes && labels.every(isLabel))) {
    return 'labels has not one name and colour for each class';
  }
  if (!(Array.isArray(layers) && layers.length > 0)) return 'layers is missing';
  if (!(isFields(files) && typeof files.onnx === 'string' && typeof files.tfjs === 'string')) {
    return 'files does not name onnx and tfjs';
  }
  if (!(isFields(check) && typeof check.file === 'string' && isShape(check.shape))) {
    return 'check does not name a file and a shape';
  }
  return preprocessingProblem(value.preprocessing);
}

export function parseManifest(text: string): Manifest {
  const value = parseJson(text, 'ubique.json');
  const problem = problemOf(value);
  if (problem !== undefined) {
    throw new ModelError(
      `ubique.json does not describe a model that this page can run: ${problem}. Export it again ` +
        'with `ubique export meshnet --format web`.',
    );
  }
  return value as Manifest;
}
