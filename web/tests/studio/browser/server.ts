// SPDX-License-Identifier: Apache-2.0
// The real server with small models, for the tests of the studio in a real browser. What those
// models are comes from the environment (tools/test_web makes them).
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { CHROMIUM } from '../../chromium.mjs';

const program = process.env.UBIQUE_BIN ?? '';
const models = {
  song: process.env.UBIQUE_STUDIO_SONG ?? '',
  heads: process.env.UBIQUE_WEB_NETWORK ?? '',
  scenes: process.env.UBIQUE_WEB_SALIENCY_NETWORK ?? '',
  sudoku: process.env.UBIQUE_STUDIO_SUDOKU ?? '',
  code: process.env.UBIQUE_STUDIO_CODE ?? '',
};

/** Says why these tests cannot run here, if so. */
export function canServe(): boolean {
  const needed = { UBIQUE_BIN: program, ...models };
  const missing = Object.entries(needed).filter(([, path]) => !path || !existsSync(path));
  const reason = !existsSync(CHROMIUM)
    ? `no browser at ${CHROMIUM}`
    : missing.length > 0
      ? `no ${missing.map(([name]) => name).join(', ')}`
      : '';
  if (reason) process.stderr.write(`left out: the studio in a browser (${reason})\n`);
  return reason === '';
}

export class StudioServer {
  readonly data = mkdtempSync(join(tmpdir(), 'ubique-studio-'));
  private child: ChildProcess | undefined;
  private ended: Promise<unknown> = Promise.resolve();
  address = '';

  constructor(private readonly more: string[] = []) {}

  /** The second start takes the port of the first: pages that are open find it again. */
  async start(): Promise<void> {
    const port = this.address ? new URL(this.address).port : '0';
    const args = ['serve', '--port', port, '--data', this.data, '--json', '-q', ...this.more];
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.child = child;
    this.ended = new Promise((resolve) => child.once('exit', resolve));
    let text = '';
    for await (const line of createInterface({ input: child.stdout! })) {
      text += line;
      if (line !== '}') continue;
      this.address = (JSON.parse(text) as { address: string }).address;
      return;
    }
    throw new Error(`The server ended at once: ${text}`);
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.child?.kill(signal);
    await this.ended;
  }

  async end(): Promise<void> {
    await this.stop();
    rmSync(this.data, { recursive: true, force: true });
  }

  async ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${this.address}/${path}`, {
      method,
      headers: { 'X-Ubique': '1', 'Content-Type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }

  /** The models of the tests, by the names that the rooms then show. */
  async addModels(): Promise<void> {
    for (const [name, path] of Object.entries(models)) {
      await this.ask('POST', 'api/models', { path, name });
    }
  }

  log(): string {
    const path = join(this.data, 'server.log');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }
}
