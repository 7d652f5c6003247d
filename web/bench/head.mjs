// SPDX-License-Identifier: Apache-2.0
// The page's own synthetic head, prepared for a network, under Node.
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

const web = fileURLToPath(new URL('..', import.meta.url));

/** A head of size^3 voxels with its values normalised as the network expects: (D, H, W). */
export async function preparedHead(size, preprocessing) {
  const vite = await createServer({
    configFile: false,
    root: web,
    logLevel: 'error',
    server: { middlewareMode: true, watch: null, hmr: false, ws: false },
    optimizeDeps: { noDiscovery: true },
  });
  try {
    const { makeHead } = await vite.ssrLoadModule('/segment/src/scans/head.ts');
    const { normalise } = await vite.ssrLoadModule('/segment/src/scans/normalise.ts');
    const { shape, values } = makeHead({ size, seed: 1 }).volume;
    normalise(values, preprocessing);
    return { shape, values };
  } finally {
    await vite.close();
  }
}
