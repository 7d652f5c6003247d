// SPDX-License-Identifier: Apache-2.0
// How the page is built: one folder of static files with relative addresses, for any host and any
// subfolder of it. Tests run from this folder instead of the page's.
import { defineConfig } from 'vitest/config';

const testing = process.env.VITEST !== undefined;

export default defineConfig({
  root: testing ? import.meta.dirname : `${import.meta.dirname}/segment`,
  base: './',
  build: {
    outDir: `${import.meta.dirname}/../build/web/segment`,
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 4096, // kB; the viewer and the runtimes are loaded when they are needed
  },
  worker: { format: 'es' },
  // What `npm run dev` serves: the sources, npm's packages and the kernels that a script compiled.
  server: { fs: { allow: [import.meta.dirname, `${import.meta.dirname}/../build/web/kernels`] } },
  test: {
    fileParallelism: false, // browsers and ubique use all processors themselves
    include: ['tests/**/*.test.ts'],
    testTimeout: 180_000, // on a machine that has other work too
  },
});
