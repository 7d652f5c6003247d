// SPDX-License-Identifier: Apache-2.0
// Files brought to the server, with progress: a scan may take a while on a slow network.
import { ApiError, offlineMessage } from './client';
import type { Upload } from './types';

export interface UploadOptions {
  progress?: (fraction: number) => void;
  signal?: AbortSignal;
}

function failure(request: XMLHttpRequest): ApiError {
  const { error } = (parsed(request.responseText) ?? {}) as {
    error?: { kind: ApiError['kind']; message: string };
  };
  if (error) return new ApiError(error.kind, error.message, request.status);
  const tooLarge = request.status === 413;
  const message = tooLarge
    ? 'The file is larger than the server takes.'
    : `The server answered ${request.status}.`;
  return new ApiError(tooLarge ? 'limit' : 'internal', message, request.status);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function upload(file: File, { progress, signal }: UploadOptions = {}): Promise<Upload> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest(); // fetch tells no progress of what it sends
    request.open('POST', 'api/uploads');
    request.setRequestHeader('X-Ubique', '1');
    request.upload.onprogress = ({ loaded, total }) => progress?.(total > 0 ? loaded / total : 0);
    request.onload = () => {
      const isFine = request.status >= 200 && request.status < 300;
      const answer = parsed(request.responseText) as Upload | undefined;
      if (isFine && answer) resolve(answer);
      else reject(failure(request));
    };
    request.onerror = () => reject(new ApiError('offline', offlineMessage));
    request.onabort = () => reject(new DOMException('Cancelled.', 'AbortError'));
    signal?.addEventListener('abort', () => request.abort());
    const form = new FormData();
    form.append('file', file, file.name);
    request.send(form);
  });
}

/** Several, one after the other; the fraction is of all bytes. */
export async function uploadAll(files: File[], options: UploadOptions = {}): Promise<Upload[]> {
  const total = files.reduce((sum, file) => sum + file.size, 0) || 1;
  const done: Upload[] = [];
  let before = 0;
  for (const file of files) {
    const progress = (fraction: number) =>
      options.progress?.((before + fraction * file.size) / total);
    done.push(await upload(file, { ...options, progress }));
    before += file.size;
  }
  return done;
}
