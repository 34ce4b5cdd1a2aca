import { expect, test } from 'bun:test';
import { expectError } from './expectations.ts';
import { conformance } from './subject.ts';
import { World } from './world.ts';

conformance('3. Project key', (subject) => {
  test('S3.1 a key is the prefix and a long random string, always a different one', async () => {
    const world = await World.make(subject());
    const other = await world.management.createKey(world.project, ['production']);
    for (const key of [world.key, other.key]) expect(key).toMatch(/^proj_live_[0-9A-Za-z]{40,}$/);
    expect(other.key).not.toBe(world.key);
  });

  test('S3.2 several keys of a project have names and are revoked one by one', async () => {
    const world = await World.make(subject());
    const first = await world.management.createKey(world.project, ['production'], { name: 'web shop' });
    const second = await world.management.createKey(world.project, ['production'], { name: 'billing' });
    const list = await world.management.request('GET', `/api/projects/${world.project}/keys`);
    expect(list).toMatchObject({
      keys: expect.arrayContaining([
        expect.objectContaining({ id: first.id, name: 'web shop' }),
        expect.objectContaining({ id: second.id, name: 'billing' }),
      ]),
    });
    await world.management.revokeKey(first.id);
    const read = (key: string) =>
      world.fetch('/v1/flags?env=production', { headers: { 'X-Service-Key': key } });
    await expectError(await read(first.key), 'invalid_api_key');
    expect((await read(second.key)).status).toBe(200);
  });

  test('S3.3 the evaluation interface creates no keys', async () => {
    const world = await World.make(subject());
    for (const path of ['/v1/keys', '/v1/key', '/v1/projects']) {
      await expectError(await world.fetch(path, { method: 'POST', body: '{}' }), 'not_found', path);
    }
  });

  test('S3.4 the key is only in the answer that creates it, which no cache keeps', async () => {
    const world = await World.make(subject());
    const answer = await world.manage('POST', `/api/projects/${world.project}/keys`, {
      name: 'once',
      environments: ['production'],
    });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('Cache-Control')).toBe('no-store');
    // S3.1 and S3.2 have proved that these two members are there.
    const { id, key } = (await answer.json()) as { id: string; key: string };
    for (const path of [
      `/api/keys/${id}`,
      `/api/projects/${world.project}/keys`,
      `/api/projects/${world.project}`,
      `/api/projects/${world.project}/export?format=json`,
      `/api/audit?project=${world.project}`,
    ]) {
      const later = JSON.stringify(await world.management.request('GET', path));
      expect(later).not.toContain(key);
      // Neither the random part in other clothes: the shown last four characters are all there is.
      expect(later).not.toContain(key.slice(10, 30));
    }
  });

  test('S3.5 a key cannot write or manage anything', async () => {
    const world = await World.make(subject(), { flag: { enabled: false } });
    for (const method of ['PUT', 'PATCH', 'DELETE', 'POST']) {
      const response = await world.fetch('/v1/flags/flag?env=production', {
        method,
        body: '{"enabled":true}',
      });
      await expectError(response, 'method_not_allowed', method);
    }
    for (const headers of [{ Authorization: `Bearer ${world.key}` }, { 'X-Service-Key': world.key }]) {
      await expectError(await fetch(`${world.url}/api/projects`, { headers }), 'invalid_access_token');
    }
    expect(await world.flags()).toEqual({ flag: { enabled: false } });
  });
});
