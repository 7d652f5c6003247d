// SPDX-License-Identifier: Apache-2.0
// Each task of the music room begins with a song of one's own, and ends in another one.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launch } from '../../chromium.mjs';
import { StudioServer, canServe } from './server';
import { visit } from './visit';

interface MadeJob {
  state: string;
  error: { message: string } | null;
  request: { options: Record<string, unknown> };
}

describe.skipIf(!canServe())('a song of one’s own', () => {
  const server = new StudioServer();
  let browser: Browser;
  beforeAll(async () => {
    [browser] = await Promise.all([launch(), server.start()]);
    await server.addModels();
  });
  afterAll(async () => {
    await browser?.close();
    await server.end();
  });

  /** Presses the button, and the job when it is over. */
  async function make(page: Page): Promise<MadeJob> {
    await page.getByRole('button', { name: 'Make the song' }).click();
    const going = page.getByRole('region', { name: 'In the making' });
    await going.waitFor({ timeout: 30_000 });
    await going.waitFor({ state: 'detached', timeout: 120_000 });
    const { jobs } = await server.ask<{ jobs: MadeJob[] }>('GET', 'api/jobs');
    return jobs[0];
  }

  test('is retaken, extended, changed and gone on from', async () => {
    const { page, complaints } = await visit(browser, `${server.address}/#/music`);
    await page.getByRole('button', { name: 'Use the example' }).click();
    await page.getByLabel('Seconds', { exact: true }).fill('3');
    await page.getByText('All settings').click();
    await page.getByLabel('Steps', { exact: true }).fill('2');
    const first = await make(page);
    expect(first).toMatchObject({ state: 'succeeded', error: null });
    const steps: Record<string, () => Promise<void>> = {
      Retake: async () => undefined,
      Extend: () => page.getByRole('slider', { name: /^Where the extended song ends/ }).press('ArrowRight'),
      Edit: () => page.getByLabel('What it should become').fill('jazz, piano'),
      'From a clip': async () => undefined,
    };
    for (const [task, prepare] of Object.entries(steps)) {
      const songs = page.getByRole('region', { name: 'Your songs' });
      await songs
        .getByRole('button', { name: /^More about/ })
        .last()
        .click();
      await songs.getByRole('button', { name: task, exact: true }).click();
      await prepare();
      const { state, error, request } = await make(page);
      expect({ task, state, error }).toEqual({ task, state: 'succeeded', error: null });
      expect(request.options).toHaveProperty('task');
    }
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});
