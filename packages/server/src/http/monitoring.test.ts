import { expect, test } from 'bun:test';
import { guardMetrics, healthRoutes } from './monitoring.ts';

const TOKEN = 'a-token-of-the-scraper';

async function scrape(token: string | undefined, authorization?: string): Promise<Response> {
  const answer = guardMetrics(token, async () => new Response('halyard_streams_open 0\n'));
  const headers = authorization === undefined ? {} : { Authorization: authorization };
  return await answer(new Request('http://127.0.0.1/metrics', { headers }));
}

test('without a token in the settings, anyone can read the metrics', async () => {
  expect((await scrape(undefined)).status).toBe(200);
  expect(await (await scrape(undefined, 'Bearer anything')).text()).toBe('halyard_streams_open 0\n');
});

test('with a token in the settings, the metrics require it as a bearer token', async () => {
  expect((await scrape(TOKEN, `Bearer ${TOKEN}`)).status).toBe(200);
  const refused = [undefined, '', 'Bearer', TOKEN, `Basic ${TOKEN}`, `Bearer ${TOKEN}x`, `bearer${TOKEN}`];
  for (const authorization of refused) {
    const answer = await scrape(TOKEN, authorization);
    expect([authorization, answer.status]).toEqual([authorization, 401]);
    const text = await answer.text();
    expect(text).not.toContain('halyard_streams_open');
    expect(text).not.toContain(TOKEN);
  }
});

test('what is no reason to take a node out of service is a warning', async () => {
  const node = {
    isCurrent: true,
    canRead: () => true,
    canStream: () => true,
    takesReads: () => true,
    mayLackRecords: () => false,
    trouble: () => undefined,
    staleSeconds: () => undefined,
  };
  const ask = async (...warnings: (string | undefined)[]) => {
    const answer = healthRoutes(node, { warnings: () => warnings })['/readyz'];
    // `never`: the route looks at the address only.
    const request = new Request('http://127.0.0.1/readyz') as never;
    const response = typeof answer === 'function' ? await answer(request, undefined as never) : undefined;
    return [response?.status, await response?.json()];
  };
  expect(await ask(undefined, undefined)).toEqual([200, { status: 'ready' }]);
  expect(await ask(undefined, 'The disk is full.')).toEqual([
    200,
    { status: 'ready', warning: 'The disk is full.' },
  ]);
  expect(await ask('One.', 'Two.')).toEqual([200, { status: 'ready', warning: 'One. Two.' }]);
});
