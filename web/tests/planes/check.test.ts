// SPDX-License-Identifier: Apache-2.0
// The rolling-planes engine on real networks, against the logits that ubique itself wrote.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { judge } from '../../segment/src/engines/check';
import type { LoadedModel } from '../../segment/src/engines/engine';
import type { Manifest } from '../../segment/src/model';
import { goldens, isThere, scratchFolder, ubique, ubiqueBinary } from '../scans/ubique';
import { nodeEngine } from './node-engine';

const data = resolve(goldens, '../../data');

function exported(network: string): LoadedModel {
  const folder = join(scratchFolder(), 'web');
  ubique('export', 'meshnet', '--model', network, '--format', 'web', '--name', 'net', '-o', folder);
  const read = (name: string) => new Uint8Array(readFileSync(join(folder, 'models/net', name)));
  const text = (name: string) => JSON.parse(new TextDecoder().decode(read(name)));
  const manifest = text('ubique.json') as Manifest;
  const document = text(manifest.files.tfjs) as { weightsManifest: { paths: string[] }[] };
  return {
    manifest,
    onnx: read(manifest.files.onnx),
    tfjs: { document, weights: read(document.weightsManifest[0].paths[0]) },
    check: new Float32Array(read(manifest.check.file).buffer),
  };
}

describe.skipIf(!isThere(ubiqueBinary, 'ubique'))('a network that ubique exported', () => {
  const networks = ['brainchop/models/model5_gw_ae', 'meshnet/arc_fold0_restart0_final.pt']
    .map((name) => join(data, name))
    .concat(process.env.UBIQUE_WEB_NETWORK ?? [])
    .filter((path) => isThere(path, 'a network'));
  it.each(networks)('gives the logits of ubique: %s', { timeout: 180_000 }, async (network) => {
    const model = exported(network);
    for (const threads of [1, 2]) {
      const engine = await nodeEngine(model, { threads });
      const { difference, agreement } = await judge(engine, model);
      expect(difference).toBeLessThan(5e-6);
      expect(agreement).toBe(1);
      await engine.dispose();
    }
  });
});
