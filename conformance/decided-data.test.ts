import { expect, test } from 'bun:test';
import { hasValidChecksum } from '@halyard/protocol';
import { expectError } from './expectations.ts';
import { conformance } from './subject.ts';
import { World } from './world.ts';

/** JSON texts of values that are easily damaged on the way. */
const VALUES = [
  'true',
  'false',
  'null',
  '0',
  '-0',
  '1.0',
  '1e3',
  '1E-7',
  '0.1',
  '9007199254740993',
  '12345678901234567890',
  '""',
  '"plain"',
  '"with \\"quotes\\" and \\\\ and \\/ and \\u0041"',
  '"\\u0000"',
  '"\\ud800"',
  '"\\n\\r\\t"',
  '"\u2028\u2029"',
  '"日本語 👍"',
  '[]',
  '{}',
  '[[[]]]',
  '[1,"two",null,{"three":3}]',
  '{"z":1,"a":2,"m":3}',
  '{"10":1,"9":2,"b":3,"1":4,"a":5}',
  '{"__proto__":{"enabled":true},"constructor":1}',
  '{"":1," ":2}',
];

const KIB = 1024;

conformance('13. Decided: keys, names and values', (subject) => {
  test('S13.1 a key has the prefix, 43 random characters and a valid checksum', async () => {
    const world = await World.make(subject());
    expect(world.key).toMatch(/^proj_live_[0-9A-Za-z]{49}$/);
    expect(hasValidChecksum(world.key)).toBe(true);
  });

  test('S13.2 a batch whose key is revoked while its body arrives is refused', async () => {
    const world = await World.make(subject(), { a: { enabled: true } });
    const { key, id } = await world.management.createKey(world.project, ['production']);
    const body = new TransformStream<string, string>();
    const writer = body.writable.getWriter();
    const answer = world.fetch('/v1/flags/batch', {
      method: 'POST',
      headers: { 'X-Service-Key': key },
      body: body.readable.pipeThrough(new TextEncoderStream()),
    });
    await writer.write('{"env":"production",');
    await world.management.revokeKey(id);
    await writer.write('"keys":["a"]}');
    await writer.close();
    await expectError(await answer, 'invalid_api_key');
  });

  test('S13.2 a revoked key is refused by the next request', async () => {
    const world = await World.make(subject());
    for (let round = 0; round < 10; round++) {
      const { id, key } = await world.management.createKey(world.project, ['production']);
      const read = () => world.fetch('/v1/flags?env=production', { headers: { 'X-Service-Key': key } });
      expect((await read()).status).toBe(200);
      await world.management.revokeKey(id);
      await expectError(await read(), 'invalid_api_key');
    }
  });

  test('S13.3 flag keys that match the grammar can be created', async () => {
    const world = await World.make(subject());
    const keys = ['a', 'Z', '0', 'a.b_c-d', 'a..b', 'x-', 'x_', 'A'.repeat(128), 'batch', 'constructor'];
    for (const key of keys) await world.put(key, { enabled: true });
    expect(Object.keys(await world.flags()).sort()).toEqual([...keys].sort());
  });

  test('S13.3 other flag keys are invalid_argument and leave nothing behind', async () => {
    const world = await World.make(subject());
    const bad = [
      '',
      '.',
      '..',
      '.a',
      '-a',
      '_a',
      '__proto__',
      'a b',
      'a/b',
      'ä',
      '👍',
      'a\0',
      'a\n',
      'A'.repeat(129),
    ];
    for (const key of bad) {
      const flags = `/api/projects/${world.project}/flags`;
      await expectError(await world.manage('POST', flags, { key }), 'invalid_argument', JSON.stringify(key));
      const changes = `/api/projects/${world.project}/environments/production/changes`;
      const body = { changes: [{ key, state: { enabled: true } }] };
      await expectError(await world.manage('POST', changes, body), 'invalid_argument', JSON.stringify(key));
    }
    expect(await world.flags()).toEqual({});
  });

  test('S13.4 a value is served as it was written: order, notation and meaning', async () => {
    const world = await World.make(subject());
    for (const [index, value] of VALUES.entries()) {
      const response = await world.putText(`v${index}`, `{"enabled":true,"value":${value}}`);
      expect({ value, status: response.status }).toEqual({ value, status: 200 });
      const single = await world.fetch(`/v1/flags/v${index}?env=production`);
      const text = await single.text();
      const start = `{"environment":"production","key":"v${index}","enabled":true,"value":`;
      expect(text.slice(0, start.length)).toBe(start);
      expect(sameMeaning(text.slice(start.length, -1))).toBe(sameMeaning(value));
    }
    const whole = await (await world.fetch('/v1/flags?env=production')).text();
    const stream = await world.stream();
    const { data } = await stream.nextFrame();
    stream.close();
    expect(whole).toBe(`{"environment":"production","flags":${data}}`);
    for (const value of VALUES) expect(sameMeaning(whole)).toContain(`"value":${sameMeaning(value)}}`);
  });

  test('S13.4 a value of 64 KiB is accepted, one more byte is rejected', async () => {
    const world = await World.make(subject());
    const textOf = (bytes: number) => `{"enabled":true,"value":"${'x'.repeat(bytes - 2)}"}`;
    expect((await world.putText('large', textOf(64 * KIB))).status).toBe(200);
    await expectError(await world.putText('larger', textOf(64 * KIB + 1)), 'invalid_argument');
    const inBytes = `{"enabled":true,"value":"${'é'.repeat(33 * KIB)}"}`;
    await expectError(await world.putText('larger', inBytes), 'invalid_argument', 'counted in bytes');
    expect(Object.keys(await world.flags())).toEqual(['large']);
  });

  test('S13.4 a value of 32 levels is accepted, one more is rejected', async () => {
    const world = await World.make(subject());
    const lists = (depth: number) => `{"enabled":true,"value":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    const objects = (depth: number) =>
      `{"enabled":true,"value":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`;
    expect((await world.putText('lists', lists(32))).status).toBe(200);
    expect((await world.putText('objects', objects(32))).status).toBe(200);
    for (const state of [lists(33), objects(33), lists(5_000), lists(100_000)]) {
      await expectError(await world.putText('deeper', state), 'invalid_argument');
    }
    expect(Object.keys(await world.flags()).sort()).toEqual(['lists', 'objects']);
  });

  test('S13.5 rolloutPct is a number from 0 to 100 with at most three decimals', async () => {
    const world = await World.make(subject());
    for (const text of ['0', '100', '50', '12.5', '33.333', '0.001', '99.999']) {
      expect((await world.putText('flag', `{"enabled":true,"rolloutPct":${text}}`)).status).toBe(200);
      expect(await world.flags()).toEqual({ flag: { enabled: true, rolloutPct: Number(text) } });
    }
    for (const text of [
      '-1',
      '-0.001',
      '100.001',
      '1000',
      '33.3333',
      '"50"',
      'null',
      'true',
      '[]',
      '1e999',
    ]) {
      const response = await world.putText('flag', `{"enabled":true,"rolloutPct":${text}}`);
      await expectError(response, 'invalid_argument', text);
    }
    expect(await world.flags()).toEqual({ flag: { enabled: true, rolloutPct: 99.999 } });
  });

  test('S13.7 a re-created environment continues its count and starts empty', async () => {
    const world = await World.make(subject());
    const { project, management } = world;
    await management.createEnvironment(project, 'preview');
    for (let value = 0; value < 3; value++) await world.put('flag', { enabled: true, value }, 'preview');
    const before = await management.states(project, 'preview');
    await management.deleteEnvironment(project, 'preview');
    await management.createEnvironment(project, 'preview');
    const after = await management.states(project, 'preview');
    expect(after.flags).toEqual([]);
    expect(after.revision).toBeGreaterThanOrEqual(before.revision);
    expect(await world.put('flag', { enabled: true }, 'preview')).toBeGreaterThan(before.revision);
  });

  test('S13.8 a key does not open a new environment with the name of a deleted one', async () => {
    const world = await World.make(subject());
    const { project, management } = world;
    await management.createEnvironment(project, 'preview');
    const only = (await management.createKey(project, ['preview'])).key;
    const both = (await management.createKey(project, ['preview', 'staging'])).key;
    const read = (key: string, environment = 'preview') =>
      world.fetch(`/v1/flags?env=${environment}`, { headers: { 'X-Service-Key': key } });
    for (const key of [only, both]) expect((await read(key)).status).toBe(200);
    await management.deleteEnvironment(project, 'preview');
    await management.createEnvironment(project, 'preview');
    for (const key of [only, both]) {
      await expectError(await read(key), 'environment_not_found');
    }
    expect((await read(both, 'staging')).status).toBe(200);
    const fresh = (await management.createKey(project, ['preview'])).key;
    expect((await read(fresh)).status).toBe(200);
  });
});

/** Two JSON texts mean the same when they differ in nothing but the escaping of characters in strings. */
function sameMeaning(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"/g, (text) => JSON.stringify(JSON.parse(text)));
}
