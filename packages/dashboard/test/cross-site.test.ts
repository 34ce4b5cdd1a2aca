import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.management.createProject('shop');
}, 120_000);
afterAll(() => world.close());

/** What the page of somebody else tries with the cookies of a person who is signed in here. */
const ATTACKS: readonly (readonly [name: string, script: (target: string) => string])[] = [
  ['a form', (target) => `document.forms[0].action = ${JSON.stringify(target)}; document.forms[0].submit()`],
  [
    'a fetch that needs no question beforehand',
    (target) =>
      `fetch(${JSON.stringify(target)}, { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"name":"stolen"}' }).catch(() => {})`,
  ],
  [
    'a fetch with JSON',
    (target) =>
      `fetch(${JSON.stringify(target)}, { method: 'POST', credentials: 'include', headers: { 'Content-Type': 'application/json' }, body: '{"name":"stolen"}' }).catch(() => {})`,
  ],
];

// Another port is another origin of the same site, to which the browser does send the cookie.
for (const [host, whose] of [
  ['127.0.0.1', 'the same site'],
  ['localhost', 'another site'],
] as const) {
  test(`a page of another origin on ${whose} changes nothing`, async () => {
    using other = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () =>
        new Response(
          '<form method="post" enctype="text/plain"><input name=\'{"name":"stolen","x":"\' value=\'"}\'></form>',
          { headers: { 'Content-Type': 'text/html' } },
        ),
    });
    const { page, context } = await world.open('/projects/shop/flags', { expected: /./ });
    await page.getByRole('heading', { name: 'No flags yet' }).waitFor();
    for (const [name, script] of ATTACKS) {
      const evil = await context.newPage();
      await evil.goto(`http://${host}:${other.port}/`);
      const settled = evil.waitForEvent('requestfinished').catch(() => undefined);
      const failed = evil.waitForEvent('requestfailed').catch(() => undefined);
      await evil.evaluate(script(`${world.node.url}/api/projects`));
      const request = await Promise.race([settled, failed]);
      const status = (await request?.response().catch(() => null))?.status();
      expect([name, status === undefined || status >= 400]).toEqual([name, true]);
      await evil.close();
    }
    const { projects } = (await world.management.request('GET', '/api/projects')) as {
      projects: { name: string }[];
    };
    expect(projects.map((project) => project.name)).toEqual(['shop']);
    // The same from a page of this server works: it was the origin that was refused, not the request.
    const own = await page.evaluate(
      `fetch('/api/projects', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"name":"own-${host === 'localhost' ? 'b' : 'a'}"}' }).then(({ status }) => status)`,
    );
    expect(own).toBe(201);
    for (const { name } of (
      (await world.management.request('GET', '/api/projects')) as { projects: { name: string }[] }
    ).projects) {
      if (name !== 'shop') await world.management.deleteProject(name);
    }
  }, 60_000);
}
