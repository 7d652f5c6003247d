// SPDX-License-Identifier: Apache-2.0
// How the pages are built, one at a time and named by the mode: each is a folder of static files
// with relative addresses, for any host and any subfolder of it. Tests run from this folder instead
// of a page's.
import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

const web = import.meta.dirname;

/** Puts what pages share where their index.html says so. */
const sharedHtml: Plugin = {
  name: 'ubique-shared-html',
  transformIndexHtml: {
    order: 'pre',
    handler: (html) =>
      html.replace(/<!-- shared: (\S+) -->/g, (_, name: string) =>
        readFileSync(`${web}/shared/page/${name}.html`, 'utf8'),
      ),
  },
};

export default defineConfig(({ mode }) => {
  const testing = mode === 'test';
  return {
    root: testing ? web : `${web}/${mode}`,
    base: './',
    publicDir: `${web}/shared/public`,
    plugins: [sharedHtml],
    build: {
      outDir: `${web}/../build/web/${mode}`,
      emptyOutDir: true,
      target: 'es2023',
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 4096, // kB; the viewer and the runtimes are loaded when needed
    },
    worker: { format: 'es' },
    // What `npm run dev` serves: the sources, npm's packages and the kernels that a script compiled.
    server: { fs: { allow: [web, `${web}/../build/web/kernels`] } },
    test: {
      fileParallelism: false, // browsers and ubique use all processors themselves
      include: ['tests/**/*.test.ts'],
      testTimeout: 180_000, // on a machine that has other work too
      hookTimeout: 180_000,
    },
  };
});
