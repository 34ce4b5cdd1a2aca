import { expect, test } from 'bun:test';
import { expectError } from './expectations.ts';
import { conformance } from './subject.ts';
import { World } from './world.ts';

const ON = { on: { enabled: true }, off: { enabled: false } };

conformance('1. Service', (subject) => {
  test('S1.1 the current state of the flags is served, and a change appears in the next read', async () => {
    const world = await World.make(subject(), ON);
    expect(await world.flags()).toEqual(ON);
    await world.put('off', { enabled: true });
    expect(await world.flags()).toEqual({ ...ON, off: { enabled: true } });
  });

  test('S1.2 a request written by hand is enough', async () => {
    const world = await World.make(subject(), ON);
    const answer = await world.raw('/v1/flags/on?env=production');
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toEqual({ environment: 'production', key: 'on', enabled: true });
  });

  test('S1.3 the three reads and the stream agree', async () => {
    const world = await World.make(subject(), ON);
    const whole = await world.flags();
    const batch = await (await world.batch({ env: 'production', keys: ['on', 'off'] })).json();
    const single = await (await world.fetch('/v1/flags/on?env=production')).json();
    const stream = await world.stream();
    const frame: unknown = JSON.parse((await stream.nextFrame()).data);
    stream.close();
    expect(batch).toEqual({ environment: 'production', flags: whole });
    expect(single).toEqual({ environment: 'production', key: 'on', ...ON.on });
    expect(frame).toEqual(whole);
  });

  test('S1.4 every endpoint requires a project key', async () => {
    const { url } = subject();
    for (const path of ['/v1/flags', '/v1/flags/on', '/v1/stream']) {
      await expectError(await fetch(`${url}${path}?env=production`), 'invalid_api_key', path);
    }
    const body = JSON.stringify({ env: 'production', keys: [] });
    await expectError(await fetch(`${url}/v1/flags/batch`, { method: 'POST', body }), 'invalid_api_key');
  });

  test('S1.5 the four paths answer below the base address', async () => {
    const world = await World.make(subject(), ON);
    const stream = await world.stream();
    stream.close();
    expect(stream.status).toBe(200);
    expect((await world.fetch('/v1/flags?env=production')).status).toBe(200);
    expect((await world.fetch('/v1/flags/on?env=production')).status).toBe(200);
    expect((await world.batch({ env: 'production', keys: ['on'] })).status).toBe(200);
  });
});
