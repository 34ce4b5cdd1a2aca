import { expect, test } from 'bun:test';
import { until } from '@halyard/testing';
import { expectError } from './expectations.ts';
import { conformance } from './subject.ts';
import { World } from './world.ts';

const FLAGS = { a: { enabled: true }, b: { enabled: false, value: 1 } };

/** Makes the project ask for reports, or no longer. */
async function switchUsage(world: World, usage: boolean): Promise<void> {
  expect((await world.manage('PATCH', `/api/projects/${world.project}`, { usage })).status).toBe(200);
}

/** Sends a report. A string goes out as it is. */
async function report(world: World, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return await world.fetch('/usage/v1', { method: 'POST', body: text, headers });
}

/** The status, tag, usage header and body of every way to read. */
async function readAll(world: World) {
  const stream = await world.stream();
  const frame = await stream.nextFrame();
  stream.close();
  const answers = [
    await world.fetch('/v1/flags?env=production'),
    await world.fetch('/v1/flags/a?env=production'),
    await world.batch({ env: 'production', keys: ['a'] }),
  ];
  const tag = answers[0]?.headers.get('ETag') ?? '';
  answers.push(await world.fetch('/v1/flags?env=production', { headers: { 'If-None-Match': tag } }));
  const bodies = await Promise.all(
    answers.map(async (answer) => ({
      status: answer.status,
      tag: answer.headers.get('ETag'),
      revision: answer.headers.get('X-Flags-Revision'),
      body: await answer.text(),
    })),
  );
  const asked = [...answers, stream].map(({ headers }) => headers.get('X-Flags-Usage'));
  return { asked, bodies, frame: frame.raw };
}

conformance('17. Reports of usage', (subject) => {
  test('S17.1 S17.4 a project is not asked until it is switched on, and then nothing else changes', async () => {
    const world = await World.make(subject(), FLAGS);
    const before = await readAll(world);
    expect(before.asked).toEqual([null, null, null, null, null]);
    for (const body of [{ env: 'production', flags: { a: { on: 1 } } }, 'no JSON'])
      await expectError(await report(world, body), 'not_found');
    await switchUsage(world, true);
    const during = await readAll(world);
    expect(during).toEqual({ ...before, asked: ['60', '60', '60', '60', '60'] });
    expect(before.bodies.map(({ status }) => status)).toEqual([200, 200, 200, 304]);
    expect((await world.fetch('/v1/flags/absent?env=production')).headers.has('X-Flags-Usage')).toBe(false);
    expect((await report(world, { env: 'production', flags: { a: { on: 1 } } })).status).toBe(204);
    await switchUsage(world, false);
    expect(await readAll(world)).toEqual(before);
    await expectError(await report(world, { env: 'production', flags: {} }), 'not_found');
  });

  test('S17.2 S26.5 an open stream hears that its project asks, and its frames stay as they are', async () => {
    const world = await World.make(subject(), FLAGS);
    const [stream, changes] = [await world.stream(), await world.changes()];
    for (const each of [stream, changes]) await each.nextFrame();
    await switchUsage(world, true);
    for (const { comments } of [stream, changes])
      await until('the comment', () => comments.some(({ text }) => text.trim() === 'usage 60'));

    await world.put('a', { enabled: false });
    expect(JSON.parse((await stream.nextFrame()).data)).toEqual({ ...FLAGS, a: { enabled: false } });
    expect(JSON.parse((await changes.nextFrame()).data)).toMatchObject({ set: { a: { enabled: false } } });
    for (const each of [stream, changes]) {
      expect(each.frames.length).toBe(2);
      each.close();
    }
  });

  test('S17.3 S17.5 a report is taken as a whole, or refused', async () => {
    const world = await World.make(subject(), FLAGS);
    await switchUsage(world, true);
    const env = 'production';
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, { on: 1 }]));

    for (const body of [
      { env, flags: {} },
      { env, flags: { a: { on: 2, off: 3 }, b: {}, absent: { off: 1 } } },
      { env, flags: { a: { on: 1e9, later: true } }, more: [1] },
      '{"env":"production","flags":{"__proto__":{"on":1}}}',
      { env, flags: many(1000) },
    ]) {
      const answer = await report(world, body);
      expect([answer.status, await answer.text()]).toEqual([204, '']);
      expect(answer.headers.get('X-Request-Id')).toBeTruthy();
    }

    for (const body of [
      ...['', '[]', '{', 'null', { env }, { flags: {} }, { env: 1, flags: {} }, { env, flags: [] }],
      ...[-1, 1.5, 1e9 + 1, '1', null].map((on) => ({ env, flags: { a: { on } } })),
      ...[1, null, [1], 'on'].map((counts) => ({ env, flags: { a: counts } })),
      { env, flags: many(1001) },
      `{"env":"production","flags":{}}${' '.repeat(262_144)}`,
    ])
      await expectError(await report(world, body), 'invalid_argument', JSON.stringify(body).slice(0, 80));

    await expectError(await report(world, { env: 'nowhere', flags: {} }), 'environment_not_found');
    const wrong = { 'X-Service-Key': 'proj_live_x' };
    await expectError(await report(world, { env, flags: {} }, wrong), 'invalid_api_key');
    expect((await world.fetch('/usage/v1')).headers.get('Allow')).toBe('POST');
  });
});
