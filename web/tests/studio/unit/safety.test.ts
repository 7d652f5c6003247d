// SPDX-License-Identifier: Apache-2.0
// What must not be in the application: ways in which text of others could become markup or script,
// and more weight than a phone should fetch.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

const web = resolve(import.meta.dirname, '../../..');
const built = resolve(web, '../build/web/studio');
const sources = readdirSync(join(web, 'studio/src'), { recursive: true, encoding: 'utf8' }).filter(
  (name) => /\.tsx?$/.test(name),
);

describe('the sources', () => {
  test.each(sources)('%s make no markup of text', (name) => {
    const text = readFileSync(join(web, 'studio/src', name), 'utf8');
    expect(text).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/,
    );
    expect(text.split('\n', 2)[0]).toBe('// SPDX-License-Identifier: Apache-2.0');
  });
});

/** What a first visit to a room fetches: the page and all that its script names statically. */
function weightOf(entry: string): number {
  const seen = new Set<string>();
  const visit = (name: string): number => {
    if (seen.has(name)) return 0;
    seen.add(name);
    const text = readFileSync(join(built, name));
    const weight = gzipSync(text).length;
    const named = text.toString().matchAll(/(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g);
    return [...named].reduce((sum, [, other]) => sum + visit(`assets/${other}`), weight);
  };
  return visit(entry);
}

describe.skipIf(!existsSync(join(built, 'index.html')))('the built application', () => {
  const assets = existsSync(built) ? readdirSync(join(built, 'assets')) : [];
  test('has no script or style in its page', () => {
    const html = readFileSync(join(built, 'index.html'), 'utf8');
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|style=/);
  });
  test('weighs at most 1.5 MB compressed without the scan viewer and the editor', () => {
    const lazy = /^(viewer|editor|blosc|zstd|lz4|gzip)-/; // of NiiVue and CodeMirror
    const weight = assets
      .filter((name) => !lazy.test(name))
      .reduce((sum, name) => sum + gzipSync(readFileSync(join(built, 'assets', name))).length, 0);
    expect(weight).toBeLessThan(1_500_000);
    const [start] = assets.filter((name) => /^index-.*\.js$/.test(name));
    expect(weightOf(`assets/${start}`)).toBeLessThan(100_000); // what one waits for at first
  });
  test('loads the scan viewer and the editor only when they are opened', () => {
    const [start] = assets.filter((name) => /^index-.*\.js$/.test(name));
    const text = readFileSync(join(built, 'assets', start), 'utf8');
    const statically = [...text.matchAll(/(?:from|import)\s*["']\.\/([\w.-]+)["']/g)].map(
      ([, name]) => name,
    );
    expect(statically.filter((name) => /^(viewer|editor)-/.test(name))).toEqual([]);
  });
});
