import { expect, test } from 'bun:test';
import { expectError } from './expectations.ts';
import { conformance } from './subject.ts';
import { World } from './world.ts';

conformance('9. Versioning', (subject) => {
  test('S9.1 the endpoints are below /v1 and nowhere else', async () => {
    const world = await World.make(subject());
    for (const path of [
      '/flags',
      '/flags/flag',
      '/stream',
      '/v2/flags',
      '/v1',
      '/v1/',
      '/v0/flags',
      '/V1/flags',
    ]) {
      await expectError(await world.fetch(`${path}?env=production`), 'not_found', path);
    }
  });

  test('S9.2 a frame is flat, without what is stored beside a state', async () => {
    const world = await World.make(subject());
    const stream = await world.stream();
    await stream.nextFrame();
    await world.management.request('POST', `/api/projects/${world.project}/flags`, {
      body: {
        key: 'flag',
        description: 'words',
        tags: ['a'],
        states: { production: { enabled: true, value: 1 } },
      },
    });
    expect((await stream.nextFrame()).raw).toBe('data: {"flag":{"enabled":true,"value":1}}\n\n');
    stream.close();
  });
});
