// SPDX-License-Identifier: Apache-2.0
// A plain static host, as simple ones are: files with their types, no special headers.
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

export interface StaticServer {
  origin: string; // 'http://127.0.0.1:1234'
  close(): Promise<void>;
}

function send(file: string, response: ServerResponse): void {
  if (!existsSync(file) || !statSync(file).isFile()) {
    response.writeHead(404, { 'Content-Type': 'text/plain' }).end('Not found');
    return;
  }
  const type = types[extname(file)] ?? 'application/octet-stream';
  response.writeHead(200, { 'Content-Type': type, 'Content-Length': statSync(file).size });
  createReadStream(file).pipe(response);
}

/** Folders by the path they are served under: { '/': dir, '/sub/page/': dir }. */
export async function serve(folders: Record<string, string>): Promise<StaticServer> {
  const prefixes = Object.keys(folders).sort((a, b) => b.length - a.length);
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://host').pathname);
    const prefix = prefixes.find((start) => path.startsWith(start));
    if (prefix === undefined) return void response.writeHead(404).end();
    const below = normalize(`/${path.slice(prefix.length)}`);
    send(join(folders[prefix], below.endsWith('/') ? `${below}index.html` : below), response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
