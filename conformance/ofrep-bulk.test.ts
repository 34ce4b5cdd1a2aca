import { expect, test } from 'bun:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import evaluation from './fixtures/evaluation.json';
import bulk from './fixtures/ofrep-bulk.json';
import { evaluateAll, evaluateOne } from './ofrep.ts';
import { conformance } from './subject.ts';
import { World } from './world.ts';

/** The part of a bulk answer that depends on nothing but flags and target. */
async function bulkOf(answer: Response) {
  // As S15.7 promises.
  const { flags, metadata } = (await answer.json()) as { flags: { key: string }[]; metadata: object };
  return { flags, metadata };
}

conformance('15. OFREP: bulk evaluations', (subject) => {
  test('S15.7 all flags answer as each of them does alone, in the order of their keys', async () => {
    const world = await World.make(subject());
    const states = new Map(
      evaluation.cases.flatMap(({ state }) => (state ? [[JSON.stringify(state), state]] : [])),
    );
    const flags = [...states.values()].map((state, index) => ({ key: `flag-${index}`, state }));
    await world.management.change(world.project, 'production', flags);
    for (const targetingKey of [undefined, '', 'user-1', 'user-2', 'юзер', '🙂']) {
      const answer = await evaluateAll(world, { targetingKey });
      expect(answer.status).toBe(200);
      const all = await bulkOf(answer);
      expect(all.metadata).toEqual({ environment: 'production', revision: 1 });
      const keys = flags.map(({ key }) => key).sort();
      expect(all.flags.map(({ key }) => key)).toEqual(keys);
      for (const flag of all.flags) {
        const alone = await evaluateOne(world, flag.key, targetingKey);
        expect(await alone.json()).toEqual(flag);
      }
    }
  });

  test('S15.7 all flags answer as the table of bulk answers says', async () => {
    const world = await World.make(subject(), bulk.flags);
    for (const { name, targetingKey, expected } of bulk.cases) {
      const { flags } = await bulkOf(await evaluateAll(world, { targetingKey }));
      const answers = flags.map((flag) => ({ ...flag, metadata: undefined, errorDetails: undefined }));
      expect<object>({ name, flags: answers }).toEqual({ name, flags: expected });
    }
  });

  test('S15.7 an environment without flags has none', async () => {
    const world = await World.make(subject());
    expect(await bulkOf(await evaluateAll(world))).toEqual({
      flags: [],
      metadata: { environment: 'production', revision: 0 },
    });
  });

  test('S15.7 values travel as they were written', async () => {
    const world = await World.make(subject());
    await world.putText('written', '{"enabled":true,"value":{"b":1.0,"a":"\\u00e9"}}');
    await world.putText('split', '{"enabled":true,"value":1e2,"rolloutPct":99.999}');
    const text = await (await evaluateAll(world, { targetingKey: 'user-1' })).text();
    expect(text).toContain('"value":{"b":1.0,"a":"\\u00e9"}}');
    expect(text).toContain('"value":1e2}');
  });

  test('S15.8 a bulk answer has a tag, and 304 answers a caller who has it', async () => {
    const world = await World.make(subject(), {
      plain: { enabled: true },
      half: { enabled: true, rolloutPct: 50 },
    });
    const first = await evaluateAll(world, { targetingKey: 'user-1' });
    const tag = first.headers.get('ETag') ?? '';
    expect(tag).toMatch(/^"[^"]+"$/);
    for (const given of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const again = await evaluateAll(world, { targetingKey: 'user-1', tag: given });
      expect([given, again.status, await again.text()]).toEqual([given, 304, '']);
      expect(again.headers.get('ETag')).toBe(tag);
    }
    // Half of these targets are inside, and the others are not.
    const keys = Array.from({ length: 20 }, (_, index) => `user-${index}`);
    const seen = new Map<string | null, string>();
    for (const targetingKey of [undefined, ...keys]) {
      const answer = await evaluateAll(world, { targetingKey, tag: '"other"' });
      const text = await answer.text();
      expect(answer.status).toBe(200);
      expect(seen.get(answer.headers.get('ETag')) ?? text).toBe(text);
      seen.set(answer.headers.get('ETag'), text);
    }
    expect(seen.size).toBe(3);

    await world.put('plain', { enabled: false });
    const changed = await evaluateAll(world, { targetingKey: 'user-1', tag });
    expect(changed.status).toBe(200);
    expect(changed.headers.get('ETag')).not.toBe(tag);
    await world.put('plain', { enabled: true });
    const back = await evaluateAll(world, { targetingKey: 'user-1', tag });
    expect([back.status, (await bulkOf(back)).metadata]).toEqual([
      200,
      { environment: 'production', revision: 3 },
    ]);
  });

  test('S15.8 the query of an event is accepted', async () => {
    const world = await World.make(subject(), { a: { enabled: true } });
    for (const query of [
      '?flagConfigEtag=%221%22',
      '?flagConfigEtag=abc&flagConfigLastModified=1771622898',
      '?flagConfigLastModified=2026-11-22T09:00:00Z',
      '?flagConfigEtag=&unknown=1',
    ])
      expect([query, (await evaluateAll(world, { query })).status]).toEqual([query, 200]);
  });

  test('S15.12 bulk answers are compressed for callers that accept it, and decode to the same bytes', async () => {
    // The larger one is compressed on another thread.
    for (const count of [20, 1_000]) {
      const world = await World.make(subject());
      const flags = Array.from({ length: count }, (_, index) => ({
        key: `flag-${index}`,
        state: { enabled: true, value: `value ${index} ✓`, ...(index % 10 === 0 && { rolloutPct: 50 }) },
      }));
      await world.management.change(world.project, 'production', flags);

      const tags = new Set<string | null>();
      for (const targetingKey of ['user-1', 'user-2']) {
        const ask = (encoding: string, tag?: string) => evaluateAll(world, { targetingKey, encoding, tag });
        const plain = await ask('identity');
        const text = await plain.text();
        expect(plain.headers.get('Content-Encoding')).toBeNull();
        tags.add(plain.headers.get('ETag'));

        for (const [encoding, decode] of [
          ['gzip', gunzipSync],
          ['zstd', zstdDecompressSync],
        ] as const) {
          const packed = await ask(encoding);
          const bytes = Buffer.from(await packed.arrayBuffer());
          expect(packed.headers.get('Content-Encoding')).toBe(encoding);
          expect(bytes.length).toBeLessThan(Buffer.byteLength(text) / 2);
          expect(decode(bytes).toString()).toBe(text);
          const tag = packed.headers.get('ETag') ?? '';
          tags.add(tag);
          const again = await ask(encoding, tag);
          expect([again.status, again.headers.get('ETag'), await again.text()]).toEqual([304, tag, '']);
          expect((await ask('identity', tag)).status).toBe(200);
        }

        for (const refused of ['gzip;q=0', 'br', ''])
          expect((await ask(refused)).headers.get('Content-Encoding')).toBeNull();
      }
      expect(tags.size).toBe(6);
    }
  });
});
