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

/** Goes through the page with Tab alone; returns what could not be reached. */
export async function unreachable(page: Page): Promise<string[]> {
  await page.evaluate(() => {
    for (const earlier of document.querySelectorAll('[data-reached]')) {
      earlier.removeAttribute('data-reached');
    }
    document.body.tabIndex = -1; // from the top
    document.body.focus();
    document.body.removeAttribute('tabindex');
  });
  for (let count = 0; count < 200; count += 1) {
    await page.keyboard.press('Escape'); // leaves the editor, in which Tab indents
    await page.keyboard.press('Tab');
    const isNew = await page.evaluate(() => {
      const focused = document.activeElement;
      if (!focused || focused === document.body || focused.hasAttribute('data-reached')) return false;
      focused.setAttribute('data-reached', 'yes');
      return true;
    });
    if (!isNew) break;
  }
  return page.evaluate(() => {
    const controls = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';
    const isShown = (element: HTMLElement) =>
      element.checkVisibility() && !element.matches(':disabled') && element.tabIndex >= 0;
    const isOfGroup = (element: HTMLElement) =>
      element.matches('[type=radio]:not(:checked), [tabindex="-1"]');
    return [...document.querySelectorAll<HTMLElement>(controls)]
      .filter((element) => isShown(element) && !isOfGroup(element))
      .filter((element) => !element.hasAttribute('data-reached'))
      .map((element) => element.outerHTML.slice(0, 120));
  });
}
