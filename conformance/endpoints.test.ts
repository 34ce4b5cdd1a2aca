import { expect, test } from 'bun:test';
import { expectError } from './expectations.ts';
import { conformance } from './subject.ts';
import { World } from './world.ts';

const FLAGS = {
  'new-checkout': { enabled: true },
  limit: { enabled: true, value: 25 },
  gradual: { enabled: true, value: { colour: 'teal' }, rolloutPct: 12.5 },
};

conformance('4. Endpoints', (subject) => {
  test('S4.1 GET /v1/flags answers every flag of the environment', async () => {
    const world = await World.make(subject(), FLAGS);
    const response = await world.fetch('/v1/flags?env=production');
    expect(response.status).toBe(200);
    expect(await response.json()).toStrictEqual({ environment: 'production', flags: FLAGS });
  });

  test('S4.1 GET /v1/flags of an environment without flags answers an empty map', async () => {
    const world = await World.make(subject(), FLAGS);
    const response = await world.fetch('/v1/flags?env=staging');
    expect(await response.text()).toBe('{"environment":"staging","flags":{}}');
  });

  test('S4.2 GET /v1/flags/{key} answers one flag with its members at the top level', async () => {
    const world = await World.make(subject(), FLAGS);
    for (const [key, state] of Object.entries(FLAGS)) {
      const response = await world.fetch(`/v1/flags/${key}?env=production`);
      expect(response.status).toBe(200);
      expect(await response.json()).toStrictEqual({ environment: 'production', key, ...state });
    }
  });

  test('S4.3 GET /v1/flags/{key} of a missing flag is flag_not_found', async () => {
    const world = await World.make(subject(), FLAGS);
    await expectError(await world.fetch('/v1/flags/absent?env=production'), 'flag_not_found');
    await expectError(await world.fetch('/v1/flags/limit?env=staging'), 'flag_not_found');
    await expectError(await world.fetch('/v1/flags/LIMIT?env=production'), 'flag_not_found');
  });

  test('S4.3 a flag that was removed no longer exists', async () => {
    const world = await World.make(subject(), FLAGS);
    await world.management.removeState(world.project, 'production', 'limit');
    await expectError(await world.fetch('/v1/flags/limit?env=production'), 'flag_not_found');
    expect(Object.keys(await world.flags()).sort()).toEqual(['gradual', 'new-checkout']);
  });

  test('S4.4 POST /v1/flags/batch answers the flags that were asked for, and only those', async () => {
    const world = await World.make(subject(), FLAGS);
    const response = await world.batch({ env: 'production', keys: ['limit', 'gradual'] });
    expect(response.status).toBe(200);
    expect(await response.json()).toStrictEqual({
      environment: 'production',
      flags: { limit: FLAGS.limit, gradual: FLAGS.gradual },
    });
  });

  test('S4.5 a batch leaves out missing flags', async () => {
    const world = await World.make(subject(), FLAGS);
    const response = await world.batch({
      env: 'production',
      keys: ['absent', 'limit', '__proto__', 'toString'],
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(
      '{"environment":"production","flags":{"limit":{"enabled":true,"value":25}}}',
    );
  });

  test('S4.6 GET /v1/stream answers an event stream', async () => {
    const world = await World.make(subject(), FLAGS);
    const stream = await world.stream();
    expect(stream.status).toBe(200);
    expect(stream.headers.get('Content-Type')).toBe('text/event-stream');
    expect(JSON.parse((await stream.nextFrame()).data)).toStrictEqual(FLAGS);
    stream.close();
  });
});
