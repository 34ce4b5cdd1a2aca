import { expect, test } from 'bun:test';
import { beforeDeadline } from '@halyard/testing';
import { expectError } from './expectations.ts';
import { conformance } from './subject.ts';
import { World } from './world.ts';

conformance('5. Authentication', (subject) => {
  test('S5.1 the key goes in X-Service-Key, whose name is compared without case', async () => {
    const world = await World.make(subject());
    for (const name of ['X-Service-Key', 'x-service-key', 'X-SERVICE-KEY']) {
      const answer = await world.raw('/v1/flags?env=production', { headers: [[name, world.key]] });
      expect(answer.status).toBe(200);
    }
  });

  test('S5.1 a key in the query does not count', async () => {
    const world = await World.make(subject());
    const path = `/v1/flags?env=production&key=${world.key}&X-Service-Key=${world.key}`;
    await expectError(await fetch(`${world.url}${path}`), 'invalid_api_key');
  });

  test('S5.2 Authorization is ignored', async () => {
    const world = await World.make(subject());
    const url = `${world.url}/v1/flags?env=production`;
    for (const value of [`Bearer ${world.key}`, world.key, `Bearer ${world.adminToken}`]) {
      await expectError(await fetch(url, { headers: { Authorization: value } }), 'invalid_api_key');
    }
    const both = { 'X-Service-Key': world.key, Authorization: 'Bearer nonsense' };
    expect((await fetch(url, { headers: both })).status).toBe(200);
  });

  test('S5.3 a key opens only its own project and the environments it was issued for', async () => {
    const world = await World.make(subject(), { mine: { enabled: true } });
    const other = await World.make(subject(), { theirs: { enabled: true } });
    expect(await world.flags()).toEqual({ mine: { enabled: true } });
    expect(await other.flags()).toEqual({ theirs: { enabled: true } });
    const { key } = await world.management.createKey(world.project, ['development', 'staging']);
    const read = (env: string) => world.fetch(`/v1/flags?env=${env}`, { headers: { 'X-Service-Key': key } });
    expect((await read('development')).status).toBe(200);
    expect((await read('staging')).status).toBe(200);
    await expectError(await read('production'), 'environment_not_found');
  });

  test('S5.4 a key that is missing, unknown, revoked or expired is invalid_api_key', async () => {
    const world = await World.make(subject());
    const url = `${world.url}/v1/flags?env=production`;
    const read = (key: string) => fetch(url, { headers: { 'X-Service-Key': key } });
    await expectError(await fetch(url), 'invalid_api_key');
    await expectError(await read(''), 'invalid_api_key');
    await expectError(await read('proj_live_unknown'), 'invalid_api_key');
    await expectError(await read(world.key.slice(0, -1)), 'invalid_api_key');
    await expectError(await read(`${world.key}0`), 'invalid_api_key');
    await expectError(await read(world.key.toLowerCase()), 'invalid_api_key');

    const { expiring, expiresAt } = await beforeDeadline(async (expiresAt) => {
      const expiring = await world.createExpiringKey(expiresAt);
      expect((await read(expiring)).status).toBe(200);
      return { expiring, expiresAt };
    });
    // Time itself is the event here.
    await Bun.sleep(Math.max(0, expiresAt + 50 - Date.now()));
    await expectError(await read(expiring), 'invalid_api_key');

    expect((await read(world.key)).status).toBe(200);
    await world.management.revokeKey(world.keyId);
    await expectError(await read(world.key), 'invalid_api_key');
  });

  test('S5.5 a missing environment is environment_not_found, on every endpoint', async () => {
    const world = await World.make(subject(), { flag: { enabled: true } });
    for (const env of ['prod', 'Production', 'production%20', '__proto__', 'constructor', '%F0%9F%91%8D']) {
      for (const path of ['/v1/flags', '/v1/flags/flag', '/v1/stream']) {
        await expectError(await world.fetch(`${path}?env=${env}`), 'environment_not_found', `${path} ${env}`);
      }
      const batch = await world.batch({ env: decodeURIComponent(env), keys: ['flag'] });
      await expectError(batch, 'environment_not_found', env);
    }
  });
});
