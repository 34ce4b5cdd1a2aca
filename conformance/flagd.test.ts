import { expect, test } from 'bun:test';
import { until } from '@halyard/testing';
import { expectError } from './expectations.ts';
import fixture from './fixtures/flagd.json';
import { conformance } from './subject.ts';
import { World } from './world.ts';

const PATH = '/flagd/v1/flags.json?env=production';
const PLAIN = { headers: { 'Accept-Encoding': 'identity' } };

/** Reads the flags of `production` for flagd. */
async function read(world: World, query = ''): Promise<Response> {
  return await world.fetch(`${PATH}${query}`, PLAIN);
}

conformance('19. flagd', (subject) => {
  test('S19.1 S19.2 each state is the flag of the fixture, in the order of the keys', async () => {
    const states = Object.fromEntries(fixture.cases.map(({ flagKey, state }) => [flagKey, state]));
    const world = await World.make(subject(), states);
    const answer = await read(world);
    const flags = fixture.cases.flatMap(({ flagKey, flag }) => (flag ? [[flagKey, flag] as const] : []));
    const metadata = { environment: 'production', revision: 1 };
    const text = await answer.text();
    expect(JSON.parse(text)).toEqual({ flags: Object.fromEntries(flags), metadata });
    expect(Object.keys(JSON.parse(text).flags)).toEqual(flags.map(([key]) => key).sort());
    expect(answer.headers.get('Content-Type')).toBe('application/json');

    const exported = await world.manage(
      'GET',
      `/api/projects/${world.project}/environments/production/flagd`,
    );
    expect(await exported.text()).toBe(text);
  });

  test('S19.3 a value keeps its notation, and one that a provider cannot read is left out with its flag', async () => {
    const world = await World.make(subject(), { good: { enabled: true } });
    await world.putText('written', '{"enabled":true,"value":{"n":10.0,"big":12345678901234567890}}');
    for (const [index, value] of fixture.unreadable.entries())
      await world.putText(`bad-${index}`, `{"enabled":true,"value":${value}}`);
    const text = await (await read(world)).text();
    expect(Object.keys(JSON.parse(text).flags)).toEqual(['good', 'written']);
    expect(text).toContain('{"on":{"n":10.0,"big":12345678901234567890}}');
  });

  test('S19.4 partial rollouts are left out on request', async () => {
    const states = Object.fromEntries(fixture.cases.map(({ flagKey, state }) => [flagKey, state]));
    const world = await World.make(subject(), states);
    const all = fixture.cases.flatMap(({ flagKey, flag }) => (flag ? [flagKey] : [])).sort();
    const keysOf = async (query: string) =>
      Object.keys(JSON.parse(await (await read(world, query)).text()).flags);
    expect(await keysOf('&rollouts=include')).toEqual(all);
    expect(await keysOf('&rollouts=omit')).toEqual(all.filter((key) => !fixture.omitted.includes(key)));
    for (const query of ['&rollouts=', '&rollouts=none', '&rollouts=omit&rollouts=omit'])
      await expectError(await read(world, query), 'invalid_argument', query);
  });

  test('S19.5 the key comes in any of three headers, and refusals are those of /v1', async () => {
    const world = await World.make(subject(), { a: { enabled: true } });
    const ask = (headers: Record<string, string>, path = PATH, method = 'GET') =>
      fetch(`${subject().url}${path}`, { method, headers });
    const { key } = world;
    for (const headers of [
      { 'X-Service-Key': key },
      { 'X-API-Key': key },
      { Authorization: `Bearer ${key}` },
    ])
      expect((await ask(headers)).status).toBe(200);
    await expectError(await ask({}), 'invalid_api_key');
    await expectError(await ask({ 'X-Service-Key': key, Authorization: 'Bearer other' }), 'invalid_api_key');
    const bearer = { Authorization: `Bearer ${key}` };
    await expectError(await ask(bearer, '/flagd/v1/flags.json'), 'invalid_argument');
    await expectError(await ask(bearer, '/flagd/v1/flags.json?env=moon'), 'environment_not_found');
    await expectError(await ask(bearer, '/flagd/v1/flags'), 'not_found');
    const refused = await ask(bearer, PATH, 'POST');
    expect([refused.status, refused.headers.get('Allow')]).toEqual([405, 'GET']);

    await world.management.request('DELETE', `/api/keys/${world.keyId}`);
    await until('every process refuses the key', async () => (await ask(bearer)).status === 401);
  });

  test('S19.6 a tag tells documents apart, and 304 that there is no newer one', async () => {
    const flags = Array.from({ length: 20 }, (_, index) => [`flag-${index}`, { enabled: true }] as const);
    const world = await World.make(subject(), Object.fromEntries(flags));
    const first = await read(world);
    const etag = first.headers.get('ETag') ?? '';
    expect(etag).toMatch(/^"[^"]+"$/);
    expect([first.headers.get('X-Flags-Revision'), first.headers.get('Cache-Control')]).toEqual([
      ...['1', 'private, no-cache'],
    ]);
    const vary = first.headers.get('Vary') ?? '';
    for (const name of ['X-Service-Key', 'X-API-Key', 'Authorization', 'Accept-Encoding'])
      expect(vary).toContain(name);
    const again = (tag: string) => world.fetch(PATH, { headers: { ...PLAIN.headers, 'If-None-Match': tag } });
    expect((await again(etag)).status).toBe(304);

    const packed = await world.fetch(PATH, { headers: { 'Accept-Encoding': 'gzip' } });
    expect(packed.headers.get('ETag')).not.toBe(etag);
    expect(await packed.text()).toBe(await first.text());
    const omitted = await read(world, '&rollouts=omit');
    // There is nothing to leave out.
    expect(omitted.headers.get('ETag')).toBe(etag);

    await world.put('flag-0', { enabled: false });
    const changed = await again(etag);
    expect([changed.status, changed.headers.get('X-Flags-Revision')]).toEqual([200, '2']);
  });
});
