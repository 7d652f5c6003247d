// SPDX-License-Identifier: Apache-2.0
// A real browser and a static host for it, for tests and benchmarks.
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { chromium } from 'playwright-core';

export const CHROMIUM = process.env.UBIQUE_CHROMIUM ?? '/usr/bin/chromium';

const FLAGS = [
  '--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];
const GRAPHICS = {
  none: ['--disable-gpu'],
  webgl: ['--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
  webgpu: ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader', '--enable-features=Vulkan'],
};

/** What a camera sees that is none: a green picture in which something moves. */
export const CAMERA = ['--use-fake-device-for-media-stream'];

/** Chromium with a fresh profile; graphics devices are emulated. */
export function launch(graphics = 'none', flags = []) {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [...FLAGS, ...GRAPHICS[graphics], ...flags],
  });
}

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};
const ISOLATION = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

function send(file, headers, response) {
  if (!existsSync(file) || !statSync(file).isFile()) {
    response.writeHead(404, { 'Content-Type': 'text/plain' }).end('Not found');
    return;
  }
  const type = TYPES[extname(file)] ?? 'application/octet-stream';
  response.writeHead(200, { ...headers, 'Content-Type': type, 'Content-Length': statSync(file).size });
  createReadStream(file).pipe(response);
}

/** Folders and bytes by the path they are served under: { '/': folder, '/head': bytes }. Without
 * special headers, as plain hosts do, unless pages are to be isolated. With shortNames
 * a/index.html is redirected to a/, as `npx serve` does. */
export async function serve(mounts, { isolated = false, shortNames = false } = {}) {
  const prefixes = Object.keys(mounts).sort((a, b) => b.length - a.length);
  const headers = isolated ? ISOLATION : {};
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://host').pathname);
    if (shortNames && path.endsWith('/index.html')) {
      return void response.writeHead(301, { Location: path.slice(0, -'index.html'.length) }).end();
    }
    const prefix = prefixes.find((start) => path.startsWith(start));
    if (prefix === undefined) return void response.writeHead(404).end();
    const mounted = mounts[prefix];
    if (typeof mounted !== 'string') return void response.writeHead(200, headers).end(mounted);
    const below = normalize(`/${path.slice(prefix.length)}`);
    send(join(mounted, below.endsWith('/') ? `${below}index.html` : below), headers, response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
