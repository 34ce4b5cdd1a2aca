import { expect, test } from 'bun:test';
import { openSse, startNode } from '@halyard/testing';
import { conformance } from './subject.ts';
import { World } from './world.ts';

conformance('relays', (subject) => {
  test('S14.10 S26.3 a relay answers as its node does, and has nothing outside its scope', async () => {
    const world = await World.make(subject(), { a: { enabled: true, value: { b: [1, 'é'] } } });
    const { management, project } = world;
    const scope = { projects: [project], environments: ['production'] };
    const { token } = await management.createRelayToken(`relay-${project}`, scope);
    const relay = await startNode({ relay: { upstream: subject().url, token } });
    try {
      const ask = (path: string, key = world.key) =>
        fetch(`${relay.url}${path}`, { headers: { 'X-Service-Key': key } });

      for (const path of [
        '/v1/flags?env=production',
        '/v1/flags/a?env=production',
        '/v1/flags/b?env=production',
        '/flagd/v1/flags.json?env=production',
      ]) {
        const [own, relayed] = await Promise.all([world.fetch(path), ask(path)]);
        expect([path, relayed.status]).toEqual([path, own.status]);
        for (const name of ['ETag', 'X-Flags-Revision', 'Vary', 'Cache-Control', 'Content-Type'])
          expect([name, relayed.headers.get(name)]).toEqual([name, own.headers.get(name)]);
        if (own.ok) expect(await relayed.text()).toBe(await own.text());
      }

      // The key opens staging, and this relay does not have it.
      const elsewhere = await ask('/v1/flags?env=staging');
      expect([elsewhere.status, await elsewhere.json()]).toMatchObject([
        404,
        { error: 'environment_not_found' },
      ]);
      const other = await management.createKey(project, ['staging']);
      expect((await ask('/v1/flags?env=staging', other.key)).status).toBe(401);

      const open = (query: string) =>
        openSse(`${relay.url}/v1/stream?${query}`, { headers: { 'X-Service-Key': world.key } });
      const stream = await open('env=production');
      const changes = await open('env=production&changes=1');
      expect((await stream.nextFrame()).data).toBe('{"a":{"enabled":true,"value":{"b":[1,"é"]}}}');

      await management.putState(project, 'staging', 'a', { enabled: true });
      await management.putState(project, 'production', 'a', { enabled: false });
      expect((await stream.nextFrame()).data).toBe('{"a":{"enabled":false}}');
      await management.removeState(project, 'production', 'a');
      const events = [await changes.nextFrame(), await changes.nextFrame(), await changes.nextFrame()];
      expect(events.map(({ data }) => data)).toEqual([
        '{"from":null,"to":1,"set":{"a":{"enabled":true,"value":{"b":[1,"é"]}}},"removed":[]}',
        '{"from":1,"to":2,"set":{"a":{"enabled":false}},"removed":[]}',
        '{"from":2,"to":3,"set":{},"removed":["a"]}',
      ]);
    } finally {
      await relay.stop();
    }
  });
});
