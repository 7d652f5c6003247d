// SPDX-License-Identifier: Apache-2.0
// The studio over time: two tabs, a server that is killed in the middle, one that wants a token; and
// every room for those who use a keyboard, a screen reader, the dark or a phone.
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launch } from '../../chromium.mjs';
import { StudioServer, canServe } from './server';
import { expectFit, objections, picture, unreachable, visit, watch } from './visit';

const phone: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  isMobile: true,
  hasTouch: true,
  colorScheme: 'dark',
};
const places = [
  'music',
  'music?task=repaint',
  'music?view=train',
  'brain',
  'gaze',
  'code',
  'code?view=chat',
  'puzzles',
  'machine',
  'machine?view=doctor',
  'machine?view=plans',
  'machine?view=runs',
];
/** Takes long enough for what happens in between: an empty sudoku is searched to the last step. */
const longJob = {
  verb: 'run',
  family: 'acestep',
  title: 'A long song',
  options: { tags: 'saw', seconds: 60, steps: 60, seed: 1 },
};

describe.skipIf(!canServe())('the studio', () => {
  const server = new StudioServer();
  let browser: Browser;
  let songModel = '';
  beforeAll(async () => {
    [browser] = await Promise.all([launch('webgl'), server.start()]);
    await server.addModels();
    const { models } = await server.ask<{ models: { ref: string; family: string }[] }>(
      'GET',
      'api/models',
    );
    songModel = models.find(({ family }) => family === 'acestep')?.ref ?? '';
  });
  afterAll(async () => {
    await browser?.close();
    await server.end();
  });

  test('shows in one tab what another one did, also when that one has closed', async () => {
    const { page: first } = await visit(browser, `${server.address}/#/puzzles`);
    const { page: second } = watch(await first.context().newPage());
    await second.goto(`${server.address}/#/machine`);
    await first.getByRole('button', { name: 'Solve' }).click();
    await first.getByRole('region', { name: 'Answer' }).waitFor({ timeout: 120_000 });
    await second.getByRole('button', { name: 'Queue' }).click();
    await second.getByRole('dialog').getByText('Sudoku').first().waitFor();
    await second.keyboard.press('Escape');
    await first.close(); // the tab that had the event stream
    await server.ask('POST', 'api/jobs', { ...longJob, model: songModel });
    const button = second.getByRole('button', { name: '1 job' });
    await button.waitFor({ timeout: 60_000 });
    await second.getByText(/^Diffusion/).first().waitFor({ timeout: 60_000 });
    const [side, box] = [second.locator('.side'), button].map((place) => place.boundingBox());
    expect((await box)?.width).toBeLessThan((await side)?.width ?? 0); // a job says much
    await picture(second, 'job-in-the-queue');
    await button.click();
    await second.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await second.getByRole('dialog').getByText('Cancelled').waitFor({ timeout: 60_000 });
    await second.context().close();
  });

  test('outlives a server that is killed in the middle of a job', async () => {
    const { page } = await visit(browser, `${server.address}/#/music`);
    await server.ask('POST', 'api/jobs', {
      ...longJob,
      model: songModel,
      options: { ...longJob.options, seconds: 8, steps: 30 },
    });
    const making = page.getByRole('region', { name: 'In the making' });
    await making.getByText(/\d+ of \d+/).waitFor({ timeout: 60_000 });
    await server.stop('SIGKILL');
    await page.getByText('The server does not answer').waitFor({ timeout: 60_000 });
    await picture(page, 'server-gone');
    await page.getByRole('button', { name: 'Make the song' }).click(); // says what is missing or wrong
    await server.start();
    await page
      .getByText('The server does not answer. Jobs')
      .waitFor({ state: 'detached', timeout: 60_000 });
    await page
      .getByRole('region', { name: 'Your songs' })
      .getByText('A long song')
      .waitFor({ timeout: 170_000 });
    await page.context().close();
  });

  for (const [name, options] of [
    ['a large screen', {}],
    ['a phone in the dark', phone],
  ] as const) {
    test(`has nothing that axe objects to on ${name}`, async () => {
      const { page, complaints } = await visit(browser, `${server.address}/`, options);
      for (const place of places) {
        await page.goto(`${server.address}/#/${place}`);
        await page.waitForSelector('h1');
        await page.waitForLoadState('networkidle', { timeout: 800 }).catch(() => undefined); // the event stream stays
        expect({ place, found: await objections(page) }).toEqual({ place, found: [] });
        await expectFit(page);
        if (options !== phone) {
          expect({ place, missed: await unreachable(page) }).toEqual({ place, missed: [] });
        }
        await picture(
          page,
          `${place.replaceAll(/\W+/g, '-')}-${options === phone ? 'phone' : 'wide'}`,
        );
      }
      expect(complaints).toEqual([]);
      await page.context().close();
    });
  }

  test('can be gone through with the keyboard', async () => {
    const { page } = await visit(browser, `${server.address}/#/puzzles`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter'); // skips the navigation
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('room');
    await page.getByRole('button', { name: 'Queue' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('radio', { name: 'Dark' }).focus();
    await page.keyboard.press('Space');
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
    await page.reload();
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
    await page.context().close();
  });
});

describe.skipIf(!canServe())('a studio that wants a token', () => {
  const server = new StudioServer(['--token', 'correct-horse-battery']);
  let browser: Browser;
  beforeAll(async () => {
    [browser] = await Promise.all([launch(), server.start()]);
  });
  afterAll(async () => {
    await browser?.close();
    await server.end();
  });

  test('asks for it, and opens with it', async () => {
    const { page } = await visit(browser, `${server.address}/?token=wrong`);
    await page.getByText('That is not the token').waitFor();
    await page.getByLabel('Token').fill('correct-horse-battery');
    await page.getByRole('button', { name: 'Open the studio' }).click();
    await page.getByRole('button', { name: 'Make the song' }).waitFor();
    expect(page.url()).not.toContain('correct-horse');
    await picture(page, 'empty');
    await page.context().close();
  });
});
