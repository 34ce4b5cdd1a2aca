import { expect, test } from 'bun:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { conformance } from './subject.ts';
import { World } from './world.ts';

const FLAGS = { a: { enabled: true }, b: { enabled: false, value: 2 } };
const READS = ['/v1/flags?env=production', '/v1/flags/a?env=production'] as const;

conformance('11. Decided: representations', (subject) => {
  test('S11.1 every read names its revision, and a change raises it by one', async () => {
    const world = await World.make(subject(), FLAGS);
    const revisions = async () => {
      const stream = await world.stream();
      stream.close();
      const answers = [
        ...(await Promise.all(READS.map((path) => world.fetch(path)))),
        await world.batch({ env: 'production', keys: [] }),
        stream,
      ];
      return answers.map((answer) => answer.headers.get('X-Flags-Revision'));
    };
    expect(await revisions()).toEqual(['1', '1', '1', '1']);
    expect(await world.put('a', { enabled: false })).toBe(2);
    expect(await revisions()).toEqual(['2', '2', '2', '2']);
    await world.put('a', { enabled: true }, 'staging');
    expect(await revisions()).toEqual(['2', '2', '2', '2']);
  });

  test('S11.2 the same state has the same strong tag and the same bytes; another state has others', async () => {
    const world = await World.make(subject(), FLAGS);
    const tags = new Map<string, string>();
    for (const path of READS) {
      const first = await world.fetch(path);
      const second = await world.fetch(path);
      const tag = first.headers.get('ETag') ?? '';
      expect(tag).toMatch(/^"[^"]+"$/);
      expect(second.headers.get('ETag')).toBe(tag);
      expect(await second.text()).toBe(await first.text());
      tags.set(path, tag);
    }
    await world.put('a', { enabled: false });
    for (const path of READS) {
      const response = await world.fetch(path, { headers: { 'If-None-Match': tags.get(path) ?? '' } });
      expect(response.status).toBe(200);
      expect(response.headers.get('ETag')).not.toBe(tags.get(path));
    }
    await world.put('a', { enabled: true });
    for (const path of READS)
      expect((await world.fetch(path)).headers.get('ETag')).toBe(tags.get(path) ?? '');
  });

  test('S11.2 the tag of a single flag survives changes of other flags', async () => {
    const world = await World.make(subject(), FLAGS);
    const tag = (await world.fetch('/v1/flags/a?env=production')).headers.get('ETag') ?? '';
    await world.put('b', { enabled: true });
    const again = await world.fetch('/v1/flags/a?env=production', { headers: { 'If-None-Match': tag } });
    expect(again.status).toBe(304);
  });

  test('S11.3 If-None-Match answers 304 without a body for the tag, a list, its weak form and a star', async () => {
    const world = await World.make(subject(), FLAGS);
    for (const path of READS) {
      const first = await world.fetch(path);
      const tag = first.headers.get('ETag') ?? '';
      for (const match of [
        tag,
        `W/${tag}`,
        `"x", ${tag}`,
        `${tag},"x"`,
        `W/"x" , W/${tag}`,
        '*',
        ` ${tag} `,
      ]) {
        const response = await world.fetch(path, { headers: { 'If-None-Match': match } });
        expect({ match, status: response.status }).toEqual({ match, status: 304 });
        expect(await response.text()).toBe('');
        for (const name of ['ETag', 'Cache-Control', 'Vary', 'X-Flags-Revision']) {
          expect(response.headers.get(name)).toBe(first.headers.get(name) ?? '');
        }
      }
      for (const match of ['"x"', `"${tag}"`, tag.slice(1, -1), 'W/"x"', '', '"*"', tag.replace('"', '"0')]) {
        const response = await world.fetch(path, { headers: { 'If-None-Match': match } });
        expect({ match, status: response.status }).toEqual({ match, status: 200 });
      }
    }
  });

  test('S11.3 a 304 requires the key as well', async () => {
    const world = await World.make(subject(), FLAGS);
    for (const path of READS) {
      const headers = { 'If-None-Match': '*', 'X-Service-Key': 'wrong' };
      expect((await world.fetch(path, { headers })).status).toBe(401);
    }
    const absent = await world.fetch('/v1/flags/none?env=production', { headers: { 'If-None-Match': '*' } });
    expect(absent.status).toBe(404);
  });

  test('S11.4 S11.7 reads are private, to be revalidated, and vary by key; all of it is JSON', async () => {
    const world = await World.make(subject(), FLAGS);
    for (const path of READS) {
      const response = await world.fetch(path);
      expect(response.headers.get('Cache-Control')).toBe('private, no-cache');
      expect(response.headers.get('Vary')).toContain('X-Service-Key');
      expect(response.headers.get('Content-Type')).toBe('application/json');
    }
    const batch = await world.batch({ env: 'production', keys: ['a'] });
    expect(batch.headers.get('Content-Type')).toBe('application/json');
    expect(batch.headers.get('Cache-Control')).toBe('private, no-cache');
  });

  test('S11.5 a large map is compressed for callers that accept it, and decodes to the same bytes', async () => {
    const world = await World.make(subject());
    const changes = Array.from({ length: 200 }, (_, i) => ({
      key: `flag-${i}`,
      state: { enabled: i % 2 === 0, value: `value ${i} ✓` },
    }));
    await world.management.change(world.project, 'production', changes);
    const read = (encoding: string, tag = '') =>
      world.fetch('/v1/flags?env=production', {
        headers: { 'Accept-Encoding': encoding, 'If-None-Match': tag },
        // The bytes as they came: unpacking is this test's business.
        decompress: false,
      });
    const plain = await read('identity');
    const plainBytes = Buffer.from(await plain.arrayBuffer());
    expect(plain.headers.get('Content-Encoding')).toBeNull();
    expect(plain.headers.get('Vary')).toContain('Accept-Encoding');

    for (const [encoding, decode] of [
      ['gzip', gunzipSync],
      ['zstd', zstdDecompressSync],
    ] as const) {
      const packed = await read(encoding);
      const bytes = Buffer.from(await packed.arrayBuffer());
      expect(packed.headers.get('Content-Encoding')).toBe(encoding);
      expect(packed.headers.get('Vary')).toContain('Accept-Encoding');
      expect(bytes.length).toBeLessThan(plainBytes.length / 2);
      expect(decode(bytes).equals(plainBytes)).toBe(true);
      const tag = packed.headers.get('ETag') ?? '';
      expect(tag).toMatch(/^"[^"]+"$/);
      expect(tag).not.toBe(plain.headers.get('ETag'));
      expect((await read(encoding, tag)).status).toBe(304);
    }

    for (const refused of ['gzip;q=0', 'identity', 'br', '', 'gzip;q=0, *;q=0']) {
      expect((await read(refused)).headers.get('Content-Encoding')).toBeNull();
    }

    for (const [accepted, encoding] of [
      ['deflate, gzip;q=0.5', 'gzip'],
      ['zstd;q=0.1, gzip;q=0.9', 'gzip'],
      ['gzip, zstd;q=0.9', 'gzip'],
      ['gzip;q=0.5, *', 'zstd'],
      ['gzip, zstd', 'zstd'],
    ] as const)
      expect([accepted, (await read(accepted)).headers.get('Content-Encoding')]).toEqual([
        accepted,
        encoding,
      ]);
  });

  test('S11.5 a map of more than 64 KiB comes plain after a change, until it is compressed', async () => {
    const world = await World.make(subject());
    const changes = Array.from({ length: 1500 }, (_, i) => ({
      key: `flag-${i}`,
      state: { enabled: true, value: `value ${i} of a longer text` },
    }));
    await world.management.change(world.project, 'production', changes);
    const read = async (encoding: string) => {
      const answer = await world.fetch('/v1/flags?env=production', {
        headers: { 'Accept-Encoding': encoding },
        decompress: false,
      });
      const packed = answer.headers.get('Content-Encoding') === 'gzip';
      const bytes = Buffer.from(await answer.arrayBuffer());
      return {
        packed,
        body: (packed ? gunzipSync(bytes) : bytes).toString(),
        etag: answer.headers.get('ETag'),
      };
    };
    const plain = await read('identity');
    expect(plain.body.length).toBeGreaterThan(64 * 1024);
    let last = await read('gzip');
    for (; !last.packed; last = await read('gzip')) expect(last).toEqual(plain);
    expect(last.body).toBe(plain.body);
    expect(last.etag).not.toBe(plain.etag);
  });

  test("S11.6 every answer has a request id: a new one, or the caller's", async () => {
    const world = await World.make(subject(), FLAGS);
    const ids = new Set<string | null>();
    const stream = await world.stream();
    stream.close();
    const answers = [
      ...(await Promise.all(READS.map((path) => world.fetch(path)))),
      await world.fetch('/v1/flags'),
      await world.fetch('/v1/flags?env=production', { headers: { 'X-Service-Key': 'wrong' } }),
      await world.fetch('/v1/flags?env=production', { headers: { 'If-None-Match': '*' } }),
      await world.fetch('/v1/flags', { method: 'PUT' }),
      await world.fetch('/v1/nothing'),
      await world.batch({ env: 'production', keys: [] }),
      stream,
    ];
    for (const answer of answers) ids.add(answer.headers.get('X-Request-Id'));
    expect(ids.size).toBe(answers.length);
    expect(ids.has(null)).toBe(false);

    const own = { 'X-Request-Id': 'trace-1.2:3' };
    expect((await world.fetch(READS[0], { headers: own })).headers.get('X-Request-Id')).toBe('trace-1.2:3');
    for (const bad of ['a b', 'x'.repeat(65), '<script>', '']) {
      const id = (await world.fetch(READS[0], { headers: { 'X-Request-Id': bad } })).headers.get(
        'X-Request-Id',
      );
      expect(id).toMatch(/^[A-Za-z0-9._:-]{1,64}$/);
    }
  });
});
