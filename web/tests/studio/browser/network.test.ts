// SPDX-License-Identifier: Apache-2.0
// The studio where the network is slow or goes away, and in two tabs that change the same things.
import type { Browser, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launch } from '../../chromium.mjs';
import { StudioServer, canServe } from './server';
import { picture, visit, watch } from './visit';

/** A telephone at the edge of its network: 40 kB/s, 0.6 s for every answer. */
const slow = { offline: false, latency: 600, downloadThroughput: 40_000, uploadThroughput: 20_000 };
const away = { offline: true, latency: 0, downloadThroughput: 0, uploadThroughput: 0 };

async function network(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  return session;
}

describe.skipIf(!canServe())('the studio', () => {
  const server = new StudioServer();
  let browser: Browser;
  let songModel = '';
  beforeAll(async () => {
    [browser] = await Promise.all([launch(), server.start()]);
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

  async function makeSong(title: string): Promise<string> {
    const options = { tags: 'saw', seconds: 2, steps: 1, seed: 1 };
    const request = { verb: 'run', family: 'acestep', model: songModel, title, options };
    const { id } = await server.ask<{ id: string }>('POST', 'api/jobs', request);
    for (let tries = 0; tries < 300; tries += 1) {
      const { state } = await server.ask<{ state: string }>('GET', `api/jobs/${id}`);
      if (state === 'succeeded') return id;
      expect(state).not.toBe('failed');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error('The song was not made.');
  }

  test('works on a slow network, where an impatient press makes no second job', async () => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    const { page, complaints } = watch(await context.newPage());
    const session = await network(page);
    await session.send('Network.emulateNetworkConditions', slow);
    await page.goto(`${server.address}/#/puzzles`);
    await page.getByRole('button', { name: 'Solve' }).waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Solve' }).dblclick();
    await page.getByRole('region', { name: 'Answer' }).waitFor({ timeout: 120_000 });
    const { jobs } = await server.ask<{ jobs: unknown[] }>('GET', 'api/jobs');
    expect(jobs).toHaveLength(1);
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('says when the network is gone, and shows what happened meanwhile when it is back', async () => {
    const { page, complaints } = await visit(browser, `${server.address}/#/music`);
    const session = await network(page);
    await page.getByRole('region', { name: 'Your songs' }).waitFor();
    await session.send('Network.emulateNetworkConditions', away);
    await page.getByRole('button', { name: 'Use the example' }).click();
    await page.getByRole('button', { name: 'Make the song' }).click();
    await page.getByText('The server does not answer').first().waitFor({ timeout: 60_000 });
    await picture(page, 'network-gone');
    await makeSong('Made meanwhile');
    await session.send('Network.emulateNetworkConditions', { ...slow, latency: 0 });
    await page.getByText('Made meanwhile').first().waitFor({ timeout: 60_000 });
    await page.getByText('The server does not answer. Jobs').waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('agrees in two tabs that change the same song', async () => {
    const id = await makeSong('Ours');
    const { page: first, complaints } = await visit(browser, `${server.address}/#/music`);
    const { page: second, complaints: more } = watch(await first.context().newPage());
    await second.goto(`${server.address}/#/music`);
    const songs = (page: Page) => page.getByRole('region', { name: 'Your songs' });
    await songs(second).getByText('Ours').waitFor();
    await songs(first).getByRole('button', { name: 'Like Ours' }).click();
    await songs(second).getByRole('button', { name: 'Like Ours', pressed: true }).waitFor();
    await songs(second).getByRole('button', { name: 'More about Ours' }).click();
    await songs(second).getByRole('button', { name: 'Delete' }).click();
    const question = second.getByRole('dialog');
    await question.waitFor();
    await server.ask('DELETE', `api/library/${id}?confirm=yes`); // somebody else was faster
    await songs(first).getByText('Ours').waitFor({ state: 'detached' });
    if (await question.isVisible()) {
      await question.getByRole('button', { name: 'Delete' }).click();
      await question.waitFor({ state: 'detached' });
    }
    await songs(second).getByText('Ours').waitFor({ state: 'detached' });
    expect([...complaints, ...more]).toEqual([]);
    await first.context().close();
  });
});
