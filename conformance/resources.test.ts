import { expect, test } from 'bun:test';
import { conformance } from './subject.ts';
import { ENVIRONMENTS, World } from './world.ts';

conformance('2. Resources', (subject) => {
  test('S2.1 every read names its environment', async () => {
    const world = await World.make(subject());
    for (const environment of ENVIRONMENTS) {
      await world.put('flag', { enabled: true }, environment);
      const whole = await world.fetch(`/v1/flags?env=${environment}`);
      const single = await world.fetch(`/v1/flags/flag?env=${environment}`);
      const batch = await world.batch({ env: environment, keys: [] });
      for (const response of [whole, single, batch])
        expect(await response.json()).toMatchObject({ environment });
    }
  });

  test('S2.1 an environment may have a name of its own', async () => {
    const world = await World.make(subject());
    await world.management.createEnvironment(world.project, 'eu-west-2');
    const { key } = await world.management.createKey(world.project, ['eu-west-2']);
    const response = await world.fetch('/v1/flags?env=eu-west-2', { headers: { 'X-Service-Key': key } });
    expect(await response.json()).toEqual({ environment: 'eu-west-2', flags: {} });
  });

  test('S2.2 a key names one flag: writing it again replaces the state', async () => {
    const world = await World.make(subject(), { flag: { enabled: false, value: 1 } });
    await world.put('flag', { enabled: true });
    expect(await world.flags()).toEqual({ flag: { enabled: true } });
  });

  test('S2.2 the same key in two environments names two states', async () => {
    const world = await World.make(subject(), { flag: { enabled: true } });
    await world.put('flag', { enabled: false }, 'staging');
    expect(await world.flags('production')).toEqual({ flag: { enabled: true } });
    expect(await world.flags('staging')).toEqual({ flag: { enabled: false } });
    expect(await world.flags('development')).toEqual({});
  });

  test('S2.3 S2.4 S2.5 a state holds what was written and omits what was not', async () => {
    const states = {
      bare: { enabled: true },
      off: { enabled: false },
      'with-null': { enabled: true, value: null },
      'with-false': { enabled: true, value: false },
      'with-zero': { enabled: true, value: 0 },
      'with-text': { enabled: true, value: '' },
      'with-list': { enabled: true, value: [1, 'two', null] },
      'with-object': { enabled: true, value: { a: { b: [] } } },
      'with-rollout': { enabled: true, rolloutPct: 12.5 },
      'with-none': { enabled: true, rolloutPct: 0 },
      'with-all': { enabled: false, value: 'x', rolloutPct: 100 },
    };
    const world = await World.make(subject(), states);
    expect(await world.flags()).toStrictEqual(states);
    for (const [key, state] of Object.entries(states)) {
      const single: unknown = await (await world.fetch(`/v1/flags/${key}?env=production`)).json();
      expect(single).toStrictEqual({ environment: 'production', key, ...state });
    }
  });

  test('S2.4 S2.5 a member that is removed is omitted again', async () => {
    const world = await World.make(subject(), { flag: { enabled: true, value: 1, rolloutPct: 5 } });
    await world.put('flag', { enabled: true });
    const response = await world.fetch('/v1/flags/flag?env=production');
    expect(await response.text()).toBe('{"environment":"production","key":"flag","enabled":true}');
  });

  test('S2.6 S2.7 the map has flag states, without what is stored beside them', async () => {
    const world = await World.make(subject());
    await world.management.request('POST', `/api/projects/${world.project}/flags`, {
      body: {
        key: 'described',
        description: 'only for people',
        tags: ['team'],
        states: { production: { enabled: true } },
      },
    });
    const response = await world.fetch('/v1/flags?env=production');
    expect(await response.text()).toBe('{"environment":"production","flags":{"described":{"enabled":true}}}');
  });
});
