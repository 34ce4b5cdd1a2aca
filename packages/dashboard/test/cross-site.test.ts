import { expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { sharedWorld } from './support/world.ts';

const world = sharedWorld(async ({ management }) => {
  await management.createProject('shop');
});

const FORM =
  '<form method="post" enctype="text/plain"><input name=\'{"name":"stolen","x":"\' value=\'"}\'></form>';

/** Requests that a foreign page tries with the cookies of a signed-in person; `path` is of the API. */
const ATTACKS: readonly (readonly [name: string, script: (api: string, operator: string) => string])[] = [
  ['a form', (api) => `document.forms[0].action = '${api}/projects'; document.forms[0].submit()`],
  [
    'a body that needs no leave',
    (api) =>
      `fetch('${api}/projects', { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"name":"stolen"}' })`,
  ],
  [
    'no body',
    (api, operator) =>
      `fetch('${api}/operators/${operator}/reset', { method: 'POST', mode: 'no-cors', credentials: 'include' })`,
  ],
  [
    'JSON, for which the browser asks leave',
    (api) =>
      `fetch('${api}/projects', { method: 'POST', credentials: 'include', headers: { 'Content-Type': 'application/json' }, body: '{"name":"stolen"}' })`,
  ],
];

// A different port is a different origin of the same site, so the browser does send the cookie.
for (const [host, whose] of [
  ['127.0.0.1', 'the same site'],
  ['localhost', 'another site'],
] as const) {
  test(`a page of another origin on ${whose} changes nothing`, async () => {
    using other = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => new Response(FORM, { headers: { 'Content-Type': 'text/html' } }),
    });
    const { page, context } = await world.open('/account', { expected: /./ });
    await page.getByRole('heading', { name: 'Account' }).waitFor();
    const operator = (await read('operators'))[0]?.id ?? '';
    for (const [name, script] of ATTACKS) {
      // Each in its own page, which is left as it is: closing one in the middle of a navigation can hang.
      const evil = await context.newPage();
      await evil.goto(`http://${host}:${other.port}/`);
      const status = await statusOf(evil, script(`${world.node.url}/api`, operator));
      expect([name, status]).toEqual([name, name.startsWith('JSON') ? undefined : 403]);
    }
    expect((await read('projects')).map((project) => project.name)).toEqual(['shop']);
    expect(await read('invitations')).toEqual([]);

    // The same from a page of this server works: it is the origin that was refused.
    const own = await statusOf(
      page,
      ATTACKS[2]?.[1](`${world.node.url}/api`, operator).replace('no-cors', 'cors') ?? '',
    );
    expect(own).toBe(201);
    for (const { id } of await read('invitations'))
      await world.management.request('DELETE', `/api/invitations/${id}`);
  }, 60_000);
}

/** What the next POST of a page is answered; `undefined` when the browser does not let it out. */
async function statusOf(page: Page, script: string): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  page.on('response', (response) => {
    if (response.request().method() === 'POST') resolve(response.status());
  });
  page.on('requestfailed', () => resolve(undefined));
  await page.evaluate(`void (async () => { ${script} })().catch(() => {})`);
  return promise;
}

async function read(
  noun: 'projects' | 'operators' | 'invitations',
): Promise<{ id?: string; name?: string }[]> {
  // As in the API's contract; any other shape fails immediately.
  const answer = (await world.management.request('GET', `/api/${noun}`)) as Record<
    string,
    { id?: string; name?: string }[]
  >;
  return answer[noun] ?? [];
}
