// SPDX-License-Identifier: Apache-2.0
// How the pages are built, one at a time and named by the mode: each is a folder of static files
// with relative addresses, for any host and any subfolder of it. Tests run from this folder instead
// of a page's.
import { createHash } from 'node:crypto';
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

function sha256(text: string): string {
  const asParsed = text.replaceAll('\r\n', '\n');
  return `'sha256-${createHash('sha256').update(asParsed).digest('base64')}'`;
}

/** Allows the scripts that stand in index.html itself by their hashes, and no others: text that
 * gets into the page can then not run as a script. */
const inlineScripts: Plugin = {
  name: 'ubique-inline-scripts',
  transformIndexHtml: {
    order: 'post',
    handler: (html) => {
      const scripts = [...html.matchAll(/<script>(.*?)<\/script>/gs)];
      return html.replace('%inline-scripts%', scripts.map(([, text]) => sha256(text)).join(' '));
    },
  },
};

export default defineConfig(({ mode }) => {
  const testing = mode === 'test';
  return {
    root: testing ? web : `${web}/${mode}`,
    base: './',
    publicDir: `${web}/shared/public`,
    plugins: [sharedHtml, inlineScripts],
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
