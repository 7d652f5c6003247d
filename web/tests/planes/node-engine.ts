// SPDX-License-Identifier: Apache-2.0
// The engine under Node: the same code with kernels from the build folder and with worker threads
// in place of the browser's.
import { readFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { build } from 'vite';
import type { LoadedModel } from '../../segment/src/engines/engine';
import { Crew, type Port } from '../../segment/src/engines/planes/crew';
import { readNetwork } from '../../segment/src/engines/planes/network';
import { PlanesEngine } from '../../segment/src/engines/planes/run';

const web = new URL('../..', import.meta.url).pathname;

/** What a browser gives its workers. */
const PRELUDE = `
  const { parentPort } = require('node:worker_threads');
  globalThis.self = { postMessage: (message) => parentPort.postMessage(message) };
  parentPort.on('message', (data) => globalThis.self.onmessage({ data }));
`;

/** Node 20 hides fused multiply-adds behind a flag; later ones have them, and ignore it. */
export async function fusedIsThere(): Promise<boolean> {
  setFlagsFromString('--experimental-wasm-relaxed-simd');
  return WebAssembly.validate(await kernelBytes('fused'));
}

async function kernelBytes(name: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await readFile(`${web}../build/web/kernels/${name}.wasm`));
}

let threadCode: Promise<string> | undefined;

async function bundleThread(): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      lib: { entry: `${web}segment/src/engines/planes/thread.ts`, formats: ['cjs'] },
    },
  });
  const outputs = Array.isArray(result) ? result : [result];
  const chunk = outputs.flatMap((o) => ('output' in o ? o.output : []))[0];
  if (chunk?.type !== 'chunk') throw new Error('thread.ts did not become a script.');
  return chunk.code;
}

/** Code of a thread; `prelude` may break it on purpose. */
export async function nodePorts(prelude = ''): Promise<() => Port> {
  const code = await (threadCode ??= bundleThread());
  return () => {
    const worker = new Worker(`${PRELUDE}${prelude}${code}`, { eval: true });
    worker.unref();
    return {
      post: (call) => worker.postMessage(call),
      listen(reply, fail) {
        worker.on('message', reply);
        worker.on('error', (error: Error) => fail(error.message));
        worker.on('exit', (code) => fail(`ended with ${code}`));
      },
      end: () => void worker.terminate(),
    };
  };
}

export interface NodeOptions {
  threads?: number;
  form?: 'fused' | 'plain';
  ports?: () => Port;
}

export async function nodeEngine(model: LoadedModel, options: NodeOptions = {}) {
  const { threads = 1, form = 'plain' } = options;
  const layers = readNetwork(model);
  if (typeof layers === 'string') throw new Error(layers);
  const bytes = await kernelBytes(threads > 1 ? `${form}-shared` : form);
  const ports = options.ports ?? (await nodePorts());
  const crew = await Crew.start(threads, ports);
  return new PlanesEngine(layers, await WebAssembly.compile(bytes), crew);
}
