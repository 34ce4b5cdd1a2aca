import { afterAll, expect, test } from 'bun:test';
import { openTestRoutes } from '../ofrep/test-routes.ts';
import { RateLimiter } from '../serving/rate-limiter.ts';
import { usageRoutes } from './routes.ts';
import { UsageTally } from './usage-tally.ts';

const servers: { stop(closeActive: boolean): unknown }[] = [];
afterAll(() => {
  for (const server of servers) server.stop(true);
});

const HEADERS = { 'X-Service-Key': 'key' };

function report(url: string, flags: object): Promise<Response> {
  const body = JSON.stringify({ env: 'production', flags });
  return fetch(`${url}/usage/v1`, { method: 'POST', headers: HEADERS, body });
}

test('S17.5 S17.7 reports and single evaluations are added up for flags that exist, and only while the project asks', async () => {
  const { url, environment, context, catalog } = openTestRoutes();
  environment.apply(8, [
    ['on', '{"enabled":true}'],
    ['half', '{"enabled":true,"rolloutPct":50}'],
  ]);
  const evaluate = (key: string) =>
    fetch(`${url}/ofrep/v1/evaluate/flags/${key}`, { method: 'POST', headers: HEADERS, body: '{}' });
  await evaluate('on');
  expect(context.usage.take()).toEqual([]);
  const row = { seq: 1, changeId: 'c', kind: 'project.updated', projectId: 'p', actor: '', at: 0 } as const;
  catalog.apply({ ...row, payload: '{"usage":true}' });
  // Without a targeting key a partial rollout has no result, and the bulk answer says nothing about use.
  for (const key of ['on', 'on', 'half', 'absent']) await evaluate(key);
  await fetch(`${url}/ofrep/v1/evaluate/flags`, { method: 'POST', headers: HEADERS, body: '{}' });
  expect((await report(url, { on: { on: 3, off: 1 }, half: { off: 2 }, absent: { on: 9 } })).status).toBe(
    204,
  );
  expect(context.usage.take()).toEqual([
    {
      environmentId: 'e',
      flags: [
        ['on', 5, 1],
        ['half', 0, 2],
      ],
    },
  ]);
  expect(context.usage.take()).toEqual([]);
  await report(url, { on: { on: 1 } });
  environment.apply(9, [['on', null]]);
  expect(context.usage.take()).toEqual([]);
});

test('S17.6 a key that reports too often has to wait', async () => {
  const { context, catalog } = openTestRoutes();
  const row = { seq: 1, changeId: 'c', kind: 'project.updated', projectId: 'p', actor: '', at: 0 } as const;
  catalog.apply({ ...row, payload: '{"usage":true}' });
  const limiter = new RateLimiter(2, () => 0);
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', routes: usageRoutes(context, limiter) });
  servers.push(server);
  const answers = [];
  for (let i = 0; i < 3; i++) answers.push(await report(server.url.origin, {}));
  expect(answers.map(({ status }) => status)).toEqual([204, 204, 429]);
  expect(answers[2]?.headers.get('Retry-After')).toBe('1');
});

test('counts have a limit in bytes, at which only flags that already have a count are counted', () => {
  const states = new Map(['a', 'b', 'c'].map((key) => [key, '{"enabled":true}']));
  const environment = { wantsUsage: true, state: (key: string) => states.get(key) };
  // The tally uses no more of an environment.
  const tally = new UsageTally({ environmentWithId: () => environment as never }, 250);
  for (const key of ['a', 'b', 'c', 'a']) tally.add({ environmentId: 'e', flags: [[key, 1, 0]] });
  expect(tally.bytes).toBeLessThanOrEqual(250);
  expect(tally.take()).toEqual([
    {
      environmentId: 'e',
      flags: [
        ['a', 2, 0],
        ['b', 1, 0],
      ],
    },
  ]);
});
