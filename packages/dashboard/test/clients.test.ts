import { describe, expect, test } from 'bun:test';
import { openSse } from '@halyard/testing';
import { sharedWorld } from './support/world.ts';

describe('clients', () => {
  const world = sharedWorld(
    async ({ management }) => {
      await management.createProject('shop');
      await management.putState('shop', 'production', 'checkout', { enabled: false });
    },
    { engine: 'PostgreSQL' },
  );

  test('the first client that connects is celebrated, and a change that reaches it is timed', async () => {
    const { page, check } = await world.open('/projects/shop/clients');
    await page.getByRole('heading', { name: 'Connect your first client' }).waitFor();
    await page.getByText('No deliveries yet. Connect a client and change a flag.').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await check();
    const { key } = await world.management.createKey('shop', ['staging', 'production'], { name: 'website' });
    const stream = await openSse(`${world.node.url}/v1/stream?env=production`, {
      headers: { 'X-Service-Key': key },
    });
    await page.getByText('A client is connected.').waitFor();
    await page.getByText('No deliveries yet. Change a flag and watch it arrive.').waitFor();
    const card = page.getByRole('region', { name: 'production', exact: true });
    await card.getByRole('listitem').getByText('1 stream').waitFor();
    // The key is used, but not in staging.
    const staging = page.getByRole('region', { name: 'staging', exact: true });
    await staging.getByText('1 key is not connected').click();
    const idle = staging.getByRole('list', { name: 'Keys of staging that are not connected' });
    await idle.getByText('website').waitFor();
    expect(await page.getByRole('heading', { name: 'Connect your first client' }).count()).toBe(0);

    await world.management.putState('shop', 'production', 'checkout', { enabled: true });
    const delivered = page.getByRole('row').filter({ has: page.getByRole('cell', { name: /^1 of 1/ }) });
    await delivered.getByRole('link', { name: 'checkout' }).waitFor();
    await check();
    stream.close();
    await card.getByText(/^1 key is not connected/).waitFor();
  }, 60_000);
});
