import { join } from 'node:path';
import type { NodeProcess } from '@halyard/testing';
import { openSse, type SseReader } from '@halyard/testing';
import type { Page } from 'playwright-core';
import { ADMIN } from '../test/support/opened-page.ts';
import { startWorld, type World } from '../test/support/world.ts';
import { changeThings, makeBelievableProject } from './believable-project.ts';

/**
 * Takes the pictures of the repository's README: `bun packages/dashboard/scripts/screenshots.ts` writes
 * `docs/images/*.webp` from a real server with a believable project.
 */
const FOLDER = join(import.meta.dir, '../../../docs/images');
const PROJECT = '/projects/harbour-shop';
const SIZE = { width: 1200, height: 760 } as const;

const world = await startWorld();
try {
  await takeAll(world);
} finally {
  await world.close();
  await world.browser.close();
}

async function takeAll({ node, open }: World): Promise<void> {
  const project = await makeBelievableProject(node.url, ADMIN);
  const streams = await openStreams(node, project.key);
  await changeThings(project);
  const history = await open(`${PROJECT}/history`, SIZE);
  // An open change shows its delivery.
  const rows = history.page.locator('[data-seq]').filter({ hasText: 'Conversion holds' });
  await rows.getByRole('button', { name: /^Details/ }).click();
  await rows.getByText(/Seen by 14 of 14/).waitFor();
  await take(history.page, 'history');
  const flags = await open(`${PROJECT}/flags`, SIZE);
  await flags.page.getByRole('switch').first().waitFor();
  await take(flags.page, 'flags');
  const flag = await open(`${PROJECT}/flags/new-checkout?env=production`, SIZE);
  await flag.page
    .getByRole('region', { name: 'production' })
    .getByRole('button', { name: 'Roll out in steps' })
    .waitFor();
  await take(flag.page, 'flag');
  for (const stream of streams) stream.close();
}

/** A few servers of a shop, listening. */
function openStreams({ url }: NodeProcess, key: string): Promise<SseReader[]> {
  const places = [...Array.from({ length: 14 }, () => 'production'), 'staging', 'staging', 'development'];
  return Promise.all(
    places.map((place) => openSse(`${url}/v1/stream?env=${place}`, { headers: { 'X-Service-Key': key } })),
  );
}

/** Playwright writes PNG and JPEG only; the browser itself knows the smaller format. */
async function take(page: Page, name: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 82 });
  await Bun.write(join(FOLDER, `${name}.webp`), Buffer.from(data, 'base64'));
}
