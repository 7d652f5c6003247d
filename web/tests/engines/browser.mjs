// SPDX-License-Identifier: Apache-2.0
// Builds the harness page, serves it with files from elsewhere, and opens it in Chromium. Used by
// the tests and the benchmark.
import { createServer } from 'node:http';
import { existsSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { build } from 'vite';

export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const here = fileURLToPath(new URL('.', import.meta.url));

const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

/** Builds the harness into a fresh folder. */
export async function buildHarness() {
  const outDir = mkdtempSync(join(tmpdir(), 'engines-'));
  await build({
    configFile: false,
    root: join(here, 'harness'),
    base: './',
    logLevel: 'error',
    worker: { format: 'es' },
    build: { outDir, emptyOutDir: true, target: 'es2022', chunkSizeWarningLimit: 4096 },
  });
  return outDir;
}

/** Serves a folder, and what `mounts` names: folders, or bytes. */
export function serve(folder, mounts, isolated = true) {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    const body = find(folder, mounts, path === '/' ? '/index.html' : path);
    response.setHeader(
      'Content-Type',
      TYPES[extname(path) || '.html'] ?? 'application/octet-stream',
    );
    if (isolated) {
      response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
      response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
    }
    response.statusCode = body ? 200 : 404;
    response.end(body ?? 'not found');
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () =>
      resolve({ url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() }),
    );
  });
}

function find(folder, mounts, path) {
  const mount = Object.keys(mounts).find((name) => path === name || path.startsWith(`${name}/`));
  if (mount && typeof mounts[mount] !== 'string') return mounts[mount];
  const file = mount ? join(mounts[mount], path.slice(mount.length)) : join(folder, path);
  return existsSync(file) && statSync(file).isFile() ? readFileSync(file) : null;
}

const FLAGS = [
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const GRAPHICS = {
  none: ['--disable-gpu'],
  webgl: ['--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
  webgpu: [
    '--enable-unsafe-webgpu',
    '--use-webgpu-adapter=swiftshader',
    '--enable-features=Vulkan',
  ],
};

/** Chromium with a fresh profile. */
export function launch(graphics = 'none') {
  return chromium.launch({
    executablePath: CHROMIUM,
    headless: true,
    args: [...FLAGS, ...GRAPHICS[graphics]],
  });
}
