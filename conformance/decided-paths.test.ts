import { expect, test } from 'bun:test';
import { AWKWARD_COUNT, awkwardStrings } from './awkward-strings.ts';
import { expectError, expectErrorText } from './expectations.ts';
import { conformance } from './subject.ts';
import { World } from './world.ts';

/** Names that every plain object has, and names of routes. All may be flag keys. */
const TREACHEROUS_KEYS = [
  'batch',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  'isPrototypeOf',
  'length',
  'then',
  'toJSON',
  'flags',
  'stream',
  'env',
  'null',
  'undefined',
  'true',
  '0',
  '1e3',
  'NaN',
  'a..b',
  'a.',
  'x__proto__',
];

conformance('10. Decided: paths and methods', (subject) => {
  test(`S10.5 S10.15 ${AWKWARD_COUNT} awkward keys do not exist`, async () => {
    const world = await World.make(subject(), { flag: { enabled: true } });
    const strings = awkwardStrings();
    expect(strings.length).toBe(AWKWARD_COUNT);
    for (const text of strings) {
      // Written to the socket, because fetch resolves `..` before it sends.
      const target = `/v1/flags/${encodeURIComponent(text)}?env=production`;
      const answer = await world.raw(target);
      expectErrorText(answer, answer.text, 'flag_not_found', JSON.stringify(text));
    }
  });

  test('S10.5 S10.15 the same keys in a batch are left out', async () => {
    const world = await World.make(subject(), { flag: { enabled: true } });
    const response = await world.batch({ env: 'production', keys: [...awkwardStrings(), 'flag', '\ud800'] });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ environment: 'production', flags: { flag: { enabled: true } } });
  });

  test('S10.5 an escape that does not decode is invalid_argument', async () => {
    const world = await World.make(subject(), { flag: { enabled: true } });
    const broken = [
      '%',
      '%z',
      '%zz',
      '%2',
      'flag%',
      '%ff',
      '%C3',
      '%C3%28',
      '%E2%82',
      '%ED%A0%80',
      '%C0%AF',
      '%F8%88',
    ];
    for (const sequence of broken) {
      const answer = await world.raw(`/v1/flags/${sequence}?env=production`);
      expectErrorText(answer, answer.text, 'invalid_argument', sequence);
    }
  });

  test('S10.5 the key is decoded once', async () => {
    const world = await World.make(subject(), { 'a.b': { enabled: true } });
    for (const escaped of ['a.b', 'a%2Eb', 'a%2eb', '%61.%62']) {
      const answer = await world.raw(`/v1/flags/${escaped}?env=production`);
      expect(JSON.parse(answer.text)).toEqual({ environment: 'production', key: 'a.b', enabled: true });
    }
    const twice = await world.raw('/v1/flags/a%252Eb?env=production');
    expectErrorText(twice, twice.text, 'flag_not_found');
  });

  test('S10.5 dots are an ordinary key and do not change the path', async () => {
    const world = await World.make(subject(), { flag: { enabled: true } });
    for (const key of ['.', '..', '%2e', '%2e%2e', '.%2E', '..%2fflags', '%2e%2e%2fflags', '..%5cflags']) {
      const answer = await world.raw(`/v1/flags/${key}?env=production`);
      expectErrorText(answer, answer.text, 'flag_not_found', key);
    }
  });

  test('S10.6 S13.3 names such as __proto__ can be flags, and every read returns them correctly', async () => {
    const states = Object.fromEntries(TREACHEROUS_KEYS.map((key) => [key, { enabled: true, value: key }]));
    const world = await World.make(subject());
    await expectError(await world.fetch('/v1/flags/batch?env=production'), 'flag_not_found');
    for (const key of TREACHEROUS_KEYS) {
      await expectError(await world.fetch(`/v1/flags/${key}?env=production`), 'flag_not_found', key);
    }
    const stream = await world.stream();
    expect((await stream.nextFrame()).data).toBe('{}');
    const changes = Object.entries(states).map(([key, state]) => ({ key, state }));
    await world.management.change(world.project, 'production', changes);
    for (const key of TREACHEROUS_KEYS) {
      const single = await world.fetch(`/v1/flags/${key}?env=production`);
      expect(await single.json()).toEqual({ environment: 'production', key, enabled: true, value: key });
    }
    expect(await world.flags()).toEqual(states);
    expect(JSON.parse((await stream.nextFrame()).data)).toEqual(states);
    stream.close();
    const batch = await world.batch({ env: 'production', keys: [...TREACHEROUS_KEYS, '__proto__'] });
    expect(await batch.json()).toEqual({ environment: 'production', flags: states });
  });

  test('S10.7 a path that is not specified is not_found', async () => {
    const world = await World.make(subject(), { flag: { enabled: true } });
    for (const target of [
      '/v1',
      '/v1/',
      '/v1/flags/',
      '/v1//flags',
      '//v1/flags',
      '/v1/flags//',
      '/v1/flags//flag',
      '/v1/flags/a/b',
      '/v1/flags/flag/',
      '/v1/flags/batch/',
      '/v1/stream/',
      '/v1/streams',
      '/v1/Flags',
      '/V1/flags',
      '/v1/flags;x=1',
      '/v1;x=1/flags',
      '/v1/flags%2Fflag',
      '/v1%2Fflags',
      '/v1/flags/../stream',
      '/v1/./flags',
      '/v1/../v1/flags',
      '/x/../v1/flags',
      '/v1/flags%3Fenv=production',
      '/index.html',
      '/.git/config',
      '/etc/passwd',
    ]) {
      const answer = await world.raw(`${target}?env=production`);
      expectErrorText(answer, answer.text, 'not_found', target);
    }
  });

  test('S10.7 a path of another part of the server is not resolved', async () => {
    const world = await World.make(subject());
    for (const target of [
      '/v1/../healthz',
      '/v1/%2e%2e/healthz',
      '/environments/../healthz',
      '/environments/../api/openapi.json',
      '/docs/%2E%2e/api/openapi.json',
      '/docs\\..\\api\\openapi.json',
      '//api/openapi.json',
      '/api//openapi.json',
      '/api/./openapi.json',
      '/api/openapi.json#/v1',
      '/api/%6fpenapi.json',
      '/api/openapi%2Ejson',
      '/docs/errors/../errors',
    ]) {
      const answer = await world.raw(target);
      expectErrorText(answer, answer.text, 'not_found', target);
    }
  });

  test('S10.7 the absolute form of a target means the same as its path', async () => {
    const world = await World.make(subject(), { flag: { enabled: true } });
    const answer = await world.raw(`http://elsewhere.example/v1/flags/flag?env=production`);
    expect({ status: answer.status, body: answer.text }).toEqual({
      status: 200,
      body: '{"environment":"production","key":"flag","enabled":true}',
    });
  });

  test('S10.8 a method that a path does not allow is rejected with Allow', async () => {
    const world = await World.make(subject(), { flag: { enabled: true } });
    const allowed = {
      '/v1/flags': ['GET'],
      '/v1/flags/flag': ['GET'],
      '/v1/flags/batch': ['GET', 'POST'],
      '/v1/stream': ['GET'],
    };
    for (const [path, methods] of Object.entries(allowed)) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        if (methods.includes(method)) continue;
        const response = await world.fetch(`${path}?env=production`, { method });
        const allow = response.headers.get('Allow') ?? '';
        await expectError(response, 'method_not_allowed', `${method} ${path}`);
        expect(allow.split(', ').sort()).toEqual([...methods].sort());
      }
      for (const method of ['TRACE', 'PROPFIND', 'QUERY']) {
        // Written to the socket, because fetch does not send every method.
        const answer = await world.raw(`${path}?env=production`, { method });
        expectErrorText(answer, answer.text, 'method_not_allowed', `${method} ${path}`);
        expect(answer.headers.get('Allow')?.split(', ').sort()).toEqual([...methods].sort());
      }
      const head = await world.fetch(`${path}?env=production`, { method: 'HEAD' });
      expect(head.status).toBe(405);
      expect(head.headers.get('Allow')?.split(', ').sort()).toEqual([...methods].sort());
    }
  });
});
