// SPDX-License-Identifier: Apache-2.0
// A model's folder, beside the page or dropped by a person: files by name. Knows nothing of what is
// in them.
import { ModelError } from './files';

export interface ModelFolder {
  name: string;
  read(file: string): Promise<Uint8Array>;
}

/** Beside the page, or wherever relative addresses lead. */
export function servedFolder(url: string, name: string): ModelFolder {
  return {
    name,
    async read(file) {
      const response = await fetch(new URL(file, new URL(url, document.baseURI))).catch(() => {
        throw new ModelError(`${name}: ${file} could not be fetched. Is the server still running?`);
      });
      if (!response.ok) {
        throw new ModelError(
          `${name}: the file ${file} is missing (${response.status}). Export the model again, or ` +
            'copy the whole folder.',
        );
      }
      return new Uint8Array(await response.arrayBuffer());
    },
  };
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function droppedFolder(files: File[]): ModelFolder {
  const byName = new Map(files.map((file) => [file.name, file]));
  const [folder] = files[0].webkitRelativePath.split('/');
  const name = folder || 'The dropped model';
  return {
    name,
    async read(file) {
      const found = byName.get(baseName(file));
      if (!found) {
        throw new ModelError(
          `${name} lacks the file ${file}. Expected the whole folder that was exported: ` +
            'choose or drop all of its files together.',
        );
      }
      return new Uint8Array(await found.arrayBuffer());
    },
  };
}

/** Whether these files are meant as a model rather than something to run it on. */
export function isModel(files: File[]): boolean {
  const models = /^(ubique\.json|model\.json|.*\.onnx|.*\.bin)$/i;
  return files.some((file) => models.test(file.name));
}
