// SPDX-License-Identifier: Apache-2.0
// A service worker that adds the headers of cross-origin isolation to the page's own files, which
// plain static hosts do not send. With them browsers give threads to WebAssembly. It stores nothing
// and asks no other host for anything.

const isolationHeaders = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

async function isolated(request) {
  const response = await fetch(request);
  // A redirect of the page itself, which the browser follows and asks again; or another origin's
  // answer. Neither can be copied.
  if (response.status === 0) return response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(isolationHeaders)) headers.set(name, value);
  const { body, status, statusText } = response;
  return new Response(body, { status, statusText, headers });
}

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  const { request } = event;
  const own = new URL(request.url).origin === self.location.origin;
  const cacheOnly = request.cache === 'only-if-cached' && request.mode !== 'same-origin';
  if (own && !cacheOnly) event.respondWith(isolated(request));
});
