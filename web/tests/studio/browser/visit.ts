// SPDX-License-Identifier: Apache-2.0
// A person's visit to the studio: what the page asks for, what goes wrong in it, how it looks and
// whether it can be used without eyes or a mouse.
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';

const screenshots = resolve(import.meta.dirname, '../../../../build/web/screenshots/studio');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface Visit {
  page: Page;
  complaints: string[];
}

export function watch(page: Page): Visit {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) complaints.push(message.text());
  });
  return { page, complaints };
}

export async function visit(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  const visited = watch(await context.newPage());
  await visited.page.goto(address);
  await visited.page.waitForSelector('h1');
  return visited;
}

export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true });
  await page.waitForTimeout(300); // the viewer draws a frame later
  await page.screenshot({ path: `${screenshots}/${name}.png` });
}

interface Violation {
  id: string;
  nodes: { target: unknown[] }[];
}

/** What axe-core objects to, as "rule: place". */
export async function objections(page: Page): Promise<string[]> {
  await page.evaluate(axe); // by the debugger: the page's policy lets no script in
  const violations = await page.evaluate(() =>
    (window as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }).axe
      .run()
      .then((found) => found.violations),
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target }) => `${id}: ${target.join(' ')}`),
  );
}

export async function expectFit(page: Page): Promise<void> {
  const overhang = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overhang).toBe(0);
}
