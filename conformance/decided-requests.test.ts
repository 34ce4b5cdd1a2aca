import { expect, test } from 'bun:test';
import { expectError, expectErrorText } from './expectations.ts';
import { conformance } from './subject.ts';
import { World } from './world.ts';

const PATHS = ['/v1/flags', '/v1/flags/flag', '/v1/stream'] as const;
const FLAG = { flag: { enabled: true } };

conformance('10. Decided: requests', (subject) => {
  test('S10.1 env missing, empty or repeated is invalid_argument', async () => {
    const world = await World.make(subject(), FLAG);
    const queries = [
      '',
      '?',
      '?env',
      '?env=',
      '?ENV=production',
      '?env=production&env=production',
      '?env=&env=x',
    ];
    for (const path of PATHS) {
      for (const query of queries) {
        await expectError(await world.fetch(path + query), 'invalid_argument', path + query);
      }
    }
  });

  test('S10.1 an escape in env that does not decode is invalid_argument, as it is in the path', async () => {
    const world = await World.make(subject(), FLAG);
    for (const env of ['%zz', '%', 'production%2', '%ff', '%ED%A0%80']) {
      for (const path of PATHS) {
        const answer = await world.raw(`${path}?env=${env}`);
        expectErrorText(answer, answer.text, 'invalid_argument', path + env);
      }
    }
    expect((await world.raw('/v1/flags?env=production&x=%zz')).status).toBe(200);
  });

  test('S10.1 other query parameters are ignored, and env is decoded', async () => {
    const world = await World.make(subject(), FLAG);
    for (const query of [
      '?x=1&env=production',
      '?env=production&x&x=2',
      '?env=%70roduction',
      '?%65nv=production',
    ]) {
      expect((await world.fetch(`/v1/flags${query}`)).status).toBe(200);
      expect((await world.fetch(`/v1/flags/flag${query}`)).status).toBe(200);
    }
  });

  test('S10.2 path and method are checked before the key', async () => {
    const { url } = subject();
    await expectError(await fetch(`${url}/v1/nothing`), 'not_found');
    await expectError(await fetch(`${url}/v1/flags`, { method: 'PUT' }), 'method_not_allowed');
  });

  test('S10.2 the key is checked before the arguments', async () => {
    const world = await World.make(subject());
    const wrong = { 'X-Service-Key': 'wrong' };
    for (const path of [...PATHS, '/v1/flags/%zz']) {
      await expectError(await world.fetch(path, { headers: wrong }), 'invalid_api_key', path);
    }
    for (const body of ['', '{', 'x'.repeat(300_000)]) {
      await expectError(await world.batch(body, wrong), 'invalid_api_key');
    }
  });

  test('S10.2 the arguments are checked before the environment', async () => {
    const world = await World.make(subject());
    await expectError(await world.fetch('/v1/flags/%zz?env=nowhere'), 'invalid_argument');
    await expectError(await world.batch({ env: 'nowhere', keys: 'flag' }), 'invalid_argument');
    const many = Array.from({ length: 1001 }, (_, i) => `k${i}`);
    await expectError(await world.batch({ env: 'nowhere', keys: many }), 'invalid_argument');
  });

  test('S10.2 the environment is checked before the flag', async () => {
    const world = await World.make(subject());
    await expectError(await world.fetch('/v1/flags/none?env=nowhere'), 'environment_not_found');
  });

  test('S10.4 a missing environment and one that the key was not issued for look alike', async () => {
    const world = await World.make(subject());
    const { key } = await world.management.createKey(world.project, ['staging']);
    for (const path of PATHS) {
      const headers = [['X-Service-Key', key]] as const;
      const absent = await world.raw(`${path}?env=nowhere`, { headers });
      const closed = await world.raw(`${path}?env=production`, { headers });
      expectErrorText(absent, absent.text, 'environment_not_found');
      expect(closed.text).toBe(absent.text);
      expect(withoutVarying(closed.rawHeaders)).toEqual(withoutVarying(absent.rawHeaders));
    }
  });

  test('S10.16 no answer has CORS headers, whatever the origin', async () => {
    const world = await World.make(subject(), FLAG);
    const headers = { Origin: 'https://app.example', 'Access-Control-Request-Method': 'GET' };
    const answers = [
      await world.fetch('/v1/flags?env=production', { headers }),
      await world.fetch('/v1/flags', { headers }),
      await world.fetch('/v1/flags?env=production', { headers, method: 'OPTIONS' }),
      await world.fetch('/v1/stream?env=nowhere', { headers }),
      await world.batch({ env: 'production', keys: [] }, headers),
    ];
    for (const answer of answers) {
      const cors = [...answer.headers.keys()].filter((name) => name.startsWith('access-control-'));
      expect(cors).toEqual([]);
    }
    const stream = await world.raw('/v1/stream?env=nowhere', {
      headers: [
        ['X-Service-Key', world.key],
        ['Origin', 'null'],
      ],
    });
    expect(stream.headers.has('Access-Control-Allow-Origin')).toBe(false);
  });

  test('S10.17 a forged Host changes nothing, least of all the docs link', async () => {
    const world = await World.make(subject());
    for (const target of [
      '/v1/flags',
      '/v1/nothing',
      '/v1/flags/none?env=production',
      '/api/projects',
      '/nothing',
    ]) {
      const honest = await world.raw(target);
      const forged = await world.raw(target, {
        host: 'evil.example',
        headers: [
          ['X-Service-Key', world.key],
          ['X-Forwarded-Host', 'evil.example'],
          ['X-Forwarded-Proto', 'gopher'],
          ['Forwarded', 'host=evil.example'],
        ],
      });
      expect(forged.status).toBe(honest.status);
      expect(forged.text).toBe(honest.text);
      expect(forged.text).not.toContain('evil');
    }
  });
});

function withoutVarying(
  headers: readonly (readonly [string, string])[],
): readonly (readonly [string, string])[] {
  return headers.filter(([name]) => !['date', 'x-request-id'].includes(name.toLowerCase()));
}
