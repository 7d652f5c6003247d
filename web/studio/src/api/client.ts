// SPDX-License-Identifier: Apache-2.0
// Requests to the server. Every failure becomes one kind of error with a sentence for people.

export type ErrorKind =
  'usage' | 'input' | 'device' | 'internal' | 'auth' | 'limit' | 'missing' | 'conflict' | 'offline';

export class ApiError extends Error {
  constructor(
    readonly kind: ErrorKind,
    message: string,
    readonly status = 0,
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

/** "[acestep.song] seconds is out of range; got ..." without the place in the program. */
export function plainMessage(message: string): string {
  return message.replace(/^\s*(ubique: )?(error: )?\[[\w.-]+\]\s*/, '');
}

export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return plainMessage(text);
}

const byStatus: Record<number, ErrorKind> = {
  401: 'auth',
  403: 'auth',
  404: 'missing',
  409: 'conflict',
  413: 'limit',
  415: 'input',
  429: 'limit',
};

async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  const guess = byStatus[response.status] ?? (response.status >= 500 ? 'internal' : 'usage');
  try {
    const { error } = JSON.parse(text) as { error?: { kind?: ErrorKind; message?: string } };
    if (error?.message) return new ApiError(error.kind ?? guess, error.message, response.status);
  } catch {
    // not ours: a proxy's page, or nothing
  }
  return new ApiError(guess, `The server answered ${response.status}.`, response.status);
}

export const offlineMessage =
  'The server does not answer. If its window was closed, start it again; this page reconnects by itself.';

/** The answer to a request that succeeded. */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (init.method && init.method !== 'GET') headers.set('X-Ubique', '1');
  let response: Response;
  try {
    response = await fetch(path, { credentials: 'same-origin', ...init, headers });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError('offline', offlineMessage);
  }
  if (!response.ok) throw await errorOf(response);
  return response;
}

interface Extra {
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

async function json<T>(
  path: string,
  method: string,
  body?: unknown,
  extra: Extra = {},
): Promise<T> {
  const init: RequestInit = { method, signal: extra.signal, headers: { ...extra.headers } };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { ...init.headers, 'Content-Type': 'application/json' };
  }
  const response = await send(path, init);
  const text = await response.text();
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

export const api = {
  get: <T>(path: string, signal?: AbortSignal) => json<T>(path, 'GET', undefined, { signal }),
  post: <T>(path: string, body: unknown = {}, headers: Record<string, string> = {}) =>
    json<T>(path, 'POST', body, { headers }),
  patch: <T>(path: string, body: unknown) => json<T>(path, 'PATCH', body),
  put: <T>(path: string, body: unknown) => json<T>(path, 'PUT', body),
  delete: <T>(path: string) => json<T>(path, 'DELETE'),
};

/** A path with its query; values that are empty are left out. */
export function withQuery(
  path: string,
  query: Record<string, string | number | boolean | undefined>,
): string {
  const words = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== '' && value !== false) words.set(key, String(value));
  }
  const text = words.toString();
  return text ? `${path}?${text}` : path;
}
