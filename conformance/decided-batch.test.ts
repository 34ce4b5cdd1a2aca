import { expect, test } from 'bun:test';
import { sendRaw } from '@halyard/testing';
import { expectError } from './expectations.ts';
import { conformance } from './subject.ts';
import { World } from './world.ts';

const FLAGS = { a: { enabled: true }, b: { enabled: false, value: 2 } };
const LIMIT_BYTES = 256 * 1024;

/** Bodies that are not what a batch read must be. */
const MALFORMED: readonly (readonly [about: string, body: string])[] = [
  ['empty', ''],
  ['white space', '  \n'],
  ['cut', '{"env":"production","keys":["a"'],
  ['trailing comma', '{"env":"production","keys":["a"],}'],
  ['trailing junk', '{"env":"production","keys":["a"]}x'],
  ['two objects', '{"env":"production","keys":["a"]}{}'],
  ['single quotes', "{'env':'production','keys':['a']}"],
  ['a comment', '{"env":"production",/**/"keys":["a"]}'],
  ['NaN', '{"env":"production","keys":[NaN]}'],
  ['a form', 'env=production&keys=a'],
  ['null', 'null'],
  ['a number', '1'],
  ['a string', '"production"'],
  ['an array', '["a"]'],
  ['an empty object', '{}'],
  ['no keys', '{"env":"production"}'],
  ['no env', '{"keys":["a"]}'],
  ['env empty', '{"env":"","keys":["a"]}'],
  ['env null', '{"env":null,"keys":["a"]}'],
  ['env a number', '{"env":1,"keys":["a"]}'],
  ['env a list', '{"env":["production"],"keys":["a"]}'],
  ['env an object', '{"env":{"name":"production"},"keys":["a"]}'],
  ['env under another name', '{"environment":"production","keys":["a"]}'],
  ['env in another case', '{"Env":"production","keys":["a"]}'],
  ['env only by inheritance', '{"__proto__":{"env":"production"},"keys":["a"]}'],
  ['keys null', '{"env":"production","keys":null}'],
  ['keys a string', '{"env":"production","keys":"a"}'],
  ['keys a number', '{"env":"production","keys":1}'],
  ['keys an object', '{"env":"production","keys":{"0":"a","length":1}}'],
  ['a key that is a number', '{"env":"production","keys":["a",1]}'],
  ['a key that is null', '{"env":"production","keys":["a",null]}'],
  ['a key that is a list', '{"env":"production","keys":[["a"]]}'],
  ['a key that is an object', '{"env":"production","keys":[{}]}'],
  ['a key that is a boolean', '{"env":"production","keys":[true]}'],
];

conformance('10. Decided: batch', (subject) => {
  test('S10.9 an empty batch returns an empty map', async () => {
    const world = await World.make(subject(), FLAGS);
    const response = await world.batch({ env: 'production', keys: [] });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('{"environment":"production","flags":{}}');
  });

  test('S10.10 a key that is named twice counts once', async () => {
    const world = await World.make(subject(), FLAGS);
    const text = await (
      await world.batch({ env: 'production', keys: ['b', 'a', 'b', 'b', 'x', 'x'] })
    ).text();
    expect(JSON.parse(text)).toEqual({ environment: 'production', flags: FLAGS });
    expect(text.match(/"b"/g)).toHaveLength(1);
  });

  test('S10.11 a thousand keys are accepted, one more is rejected', async () => {
    const world = await World.make(subject(), FLAGS);
    const keys = ['a', ...Array.from({ length: 999 }, (_, i) => `absent-${i}`)];
    const response = await world.batch({ env: 'production', keys });
    expect(await response.json()).toEqual({ environment: 'production', flags: { a: FLAGS.a } });
    await expectError(await world.batch({ env: 'production', keys: [...keys, 'b'] }), 'invalid_argument');
    await expectError(
      await world.batch({ env: 'production', keys: Array(1001).fill('a') }),
      'invalid_argument',
    );
  });

  test('S10.12 a body of 256 KiB is accepted, one more byte is rejected, however it is sent', async () => {
    const world = await World.make(subject(), FLAGS);
    const exact = padded(LIMIT_BYTES);
    expect(await (await world.batch(exact)).json()).toEqual({
      environment: 'production',
      flags: { a: FLAGS.a },
    });
    await expectError(await world.batch(padded(LIMIT_BYTES + 1)), 'invalid_argument');
    await expectError(await world.batch(padded(2 * 1024 * 1024)), 'invalid_argument');
    await expectError(await world.batch(multibyte(LIMIT_BYTES + 1)), 'invalid_argument', 'counted in bytes');

    const chunk = 'x'.repeat(1024);
    const chunks = `400\r\n${chunk}\r\n`.repeat(LIMIT_BYTES / 1024 + 1);
    const { answers } = await sendRaw(
      world.url,
      [headOf(world, 'Transfer-Encoding: chunked'), `${chunks}0\r\n\r\n`],
      {
        answers: 1,
        timeoutMs: 30_000,
      },
    );
    expect(answers[0]?.status).toBe(400);
    expect(JSON.parse(answers[0]?.text ?? '')).toMatchObject({ error: 'invalid_argument' });
  });

  for (const [about, body] of MALFORMED) {
    test(`S10.13 a malformed body is invalid_argument: ${about}`, async () => {
      const world = await shared(subject().url, () => World.make(subject(), FLAGS));
      await expectError(await world.batch(body), 'invalid_argument');
    });
  }

  test('S10.13 bytes that are not UTF-8 are invalid_argument', async () => {
    const world = await World.make(subject(), FLAGS);
    const before = Buffer.from('{"env":"production","keys":["a');
    const after = Buffer.from('"]}');
    for (const broken of [
      [0xff],
      [0xc3],
      [0xc3, 0x28],
      [0xed, 0xa0, 0x80],
      [0xc0, 0xaf],
      [0xf8, 0x88, 0x80],
    ]) {
      const body = new Uint8Array(Buffer.concat([before, Buffer.from(broken), after]));
      await expectError(await world.batch(body), 'invalid_argument', broken.toString());
    }
    const utf16 = new Uint8Array(Buffer.from('\ufeff{"env":"production","keys":["a"]}', 'utf16le'));
    await expectError(await world.batch(utf16), 'invalid_argument', 'UTF-16');
  });

  test('S10.13 deep nesting is rejected or ignored, and never fails', async () => {
    const world = await World.make(subject(), FLAGS);
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const depth = Math.floor(100_000 / open.length);
      const inner = close === '}' ? '1' : '';
      const deep = open.repeat(depth) + inner + close.repeat(depth);
      await expectError(await world.batch(deep), 'invalid_argument', 'deep alone');
      await expectError(await world.batch(open.repeat(depth)), 'invalid_argument', 'deep and cut');
      const beside = await world.batch(`{"env":"production","keys":["a"],"deep":${deep}}`);
      expect([200, 400]).toContain(beside.status);
    }
    expect(await world.flags()).toEqual(FLAGS);
  });

  test('S10.13 other members, and env in the query, are ignored', async () => {
    const world = await World.make(subject(), FLAGS);
    const response = await world.fetch('/v1/flags/batch?env=nowhere&env=twice', {
      method: 'POST',
      body: '{"x":1,"keys":["a"],"env":"production","__proto__":{"keys":["b"]},"constructor":null,"limit":0}',
    });
    expect(await response.json()).toEqual({ environment: 'production', flags: { a: FLAGS.a } });
  });

  test('S10.14 the content type does not matter', async () => {
    const world = await World.make(subject(), FLAGS);
    const body = '{"env":"production","keys":["a"]}';
    for (const type of [
      'application/json',
      'application/json; charset=utf-8',
      'APPLICATION/JSON',
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'nonsense',
    ]) {
      expect((await world.batch(body, { 'Content-Type': type })).status).toBe(200);
    }
    const head = headOf(world, `Content-Length: ${body.length}`);
    const { answers } = await sendRaw(world.url, head + body, { answers: 1, timeoutMs: 30_000 });
    expect(answers[0]?.status).toBe(200);
  });

  test('S10.13 a body that breaks off does not affect other requests', async () => {
    const world = await World.make(subject(), FLAGS);
    const head = headOf(world, 'Content-Length: 1000');
    // The socket is left as soon as the time is over, with the body half sent.
    await sendRaw(world.url, `${head}{"env":"production","ke`, { timeoutMs: 200 });
    const chunked = headOf(world, 'Transfer-Encoding: chunked');
    await sendRaw(world.url, `${chunked}5\r\n{"env\r\n`, { timeoutMs: 200 });
    expect((await world.batch({ env: 'production', keys: ['a'] })).status).toBe(200);
    expect(await world.flags()).toEqual(FLAGS);
  });
});

const worlds = new Map<string, Promise<World>>();

/** One world per subject for a table of tests that only read. */
function shared(url: string, make: () => Promise<World>): Promise<World> {
  const world = worlds.get(url) ?? make();
  worlds.set(url, world);
  return world;
}

/** A good batch body of exactly so many bytes. */
function padded(bytes: number): string {
  const body = '{"env":"production","keys":["a"],"padding":""}';
  return body.replace('""', `"${'x'.repeat(bytes - body.length)}"`);
}

/** A good batch body of exactly so many bytes in UTF-8, and of far fewer characters. */
function multibyte(bytes: number): string {
  const body = '{"env":"production","keys":["a"],"padding":""}';
  const room = bytes - body.length;
  return body.replace('""', `"${'é'.repeat(Math.floor(room / 2))}${'x'.repeat(room % 2)}"`);
}

function headOf(world: World, lengthHeader: string): string {
  const host = new URL(world.url).host;
  return `POST /v1/flags/batch HTTP/1.1\r\nHost: ${host}\r\nX-Service-Key: ${world.key}\r\n${lengthHeader}\r\n\r\n`;
}
