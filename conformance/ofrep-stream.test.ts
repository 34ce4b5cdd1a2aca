import { expect, test } from 'bun:test';
import { beforeDeadline, openSse, type SseReader, until } from '@halyard/testing';
import { conformance } from './subject.ts';
import { World } from './world.ts';

const FLAG = { flag: { enabled: true, value: 0 } };

/** Reads all flags over OFREP. */
async function readBulk(world: World, init: { environment?: string; key?: string; query?: string } = {}) {
  const { environment = 'production', key = world.key, query = '' } = init;
  const answer = await fetch(`${world.url}/ofrep/v1/evaluate/flags${query}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'X-Flags-Environment': environment },
    body: '{"context":{"targetingKey":"ana"}}',
  });
  // The shape is OFREP's; a test that gets another one fails where it uses it.
  const body = (await answer.json()) as {
    flags: { key: string; value?: unknown }[];
    eventStreams: { type: string; endpoint: { requestUri: string } }[];
    metadata: { revision: number };
  };
  return { answer, body };
}

/** The address of the event stream that a bulk read offers, as a path. */
async function streamPath(world: World, init: { environment?: string; key?: string } = {}): Promise<string> {
  const { body } = await readBulk(world, init);
  return body.eventStreams[0]?.endpoint.requestUri ?? '';
}

async function openEvents(
  world: World,
  path: string,
  headers: Record<string, string> = {},
): Promise<SseReader> {
  return await openSse(`${world.url}${path}`, { headers, timeoutMs: 30_000 });
}

const event = (revision: number) =>
  `id: ${revision}\ndata: {"type":"refetchEvaluation","etag":"\\"${revision}\\""}\n\n`;

conformance('16. OFREP: event stream', (subject) => {
  test('S16.1 a bulk read offers one stream, under an address that changes do not change', async () => {
    const world = await World.make(subject(), FLAG);
    const first = await readBulk(world);
    expect(first.body.eventStreams).toEqual([
      {
        type: 'sse',
        endpoint: { requestUri: expect.stringMatching(/^\/ofrep\/v1\/stream\?ticket=[\w.-]+$/) },
      },
    ]);
    const [before] = first.body.eventStreams;
    expect(JSON.stringify(before)).not.toContain(world.key);
    const paths = new Set([before?.endpoint.requestUri]);
    for (let value = 1; value <= 5; value++) {
      await world.put('flag', { enabled: true, value });
      paths.add(await streamPath(world));
    }
    // The hour may have ended in between, once.
    expect(paths.size).toBeLessThanOrEqual(2);
  });

  test('S16.1 below an environment, the stream is below it too', async () => {
    const world = await World.make(subject(), FLAG);
    const answer = await fetch(`${world.url}/environments/production/ofrep/v1/evaluate/flags`, {
      method: 'POST',
      headers: { 'X-API-Key': world.key },
      body: '{}',
    });
    const { eventStreams } = (await answer.json()) as {
      eventStreams: { endpoint: { requestUri: string } }[];
    };
    const path = eventStreams[0]?.endpoint.requestUri ?? '';
    expect(path).toMatch(/^\/environments\/production\/ofrep\/v1\/stream\?ticket=[\w.-]+$/);
    for (const address of [path, path.replace('/environments/production', '')]) {
      const stream = await openEvents(world, address);
      expect(stream.status).toBe(200);
      stream.close();
    }
    const elsewhere = await openEvents(world, path.replace('/production/', '/staging/'));
    expect(elsewhere.status).toBe(401);
    elsewhere.close();
  });

  test('S16.2 the stream begins with the event of the revision that is current', async () => {
    const world = await World.make(subject(), FLAG);
    const stream = await openEvents(world, await streamPath(world));
    expect(stream.headers.get('Content-Type')).toBe('text/event-stream');
    expect(stream.headers.get('X-Flags-Revision')).toBe('1');
    const { raw, data } = await stream.nextFrame();
    expect(raw).toMatch(/^retry: [12]\d{3}\n/);
    expect(raw.replace(/^retry: \d+\n/, '')).toBe(event(1));
    expect(JSON.parse(data)).toEqual({ type: 'refetchEvaluation', etag: '"1"' });
    stream.close();
  });

  test('S16.3 every change of racing writers is one event, in order, and none is repeated', async () => {
    const world = await World.make(subject(), FLAG);
    const path = await streamPath(world);
    const streams = await Promise.all(Array.from({ length: 3 }, () => openEvents(world, path)));
    const maps = await world.stream();
    for (const stream of streams) await stream.nextFrame();
    await Promise.all(
      Array.from({ length: 6 }, async (_, writer) => {
        for (let round = 0; round < 8; round++)
          await world.put(`flag-${writer}`, { enabled: true, value: round });
      }),
    );
    await world.put('flag', { enabled: true, value: 0 });
    for (const stream of streams) {
      for (let revision = 2; revision <= 49; revision++)
        expect((await stream.nextFrame()).raw).toBe(event(revision));
      // The write that changed nothing has none.
      expect(stream.frames.length).toBe(49);
      stream.close();
    }
    for (let frame = 0; frame < 49; frame++) await maps.nextFrame();
    maps.close();
  });

  test('S16.3 changes of other environments and projects make no event', async () => {
    const world = await World.make(subject(), FLAG);
    const other = await World.make(subject(), FLAG);
    const stream = await openEvents(world, await streamPath(world));
    await stream.nextFrame();
    await world.put('flag', { enabled: false }, 'staging');
    await other.put('flag', { enabled: false });
    await world.put('flag', { enabled: false });
    expect((await stream.nextFrame()).raw).toBe(event(2));
    stream.close();
  });

  test('S16.4 a reader that comes back gets an event for what it missed, and otherwise none', async () => {
    const world = await World.make(subject(), FLAG);
    const path = await streamPath(world);
    const openings = async (lastEventId: string) => {
      const texts: string[] = [];
      for (const stream of [
        await openEvents(world, path, { 'Last-Event-ID': lastEventId }),
        await openEvents(world, `${path}&lastEventId=${lastEventId}`),
      ]) {
        texts.push((await stream.nextFrame()).raw.replace(/^retry: \d+\n/, ''));
        stream.close();
      }
      return texts;
    };
    expect(await openings('1')).toEqual(['id: 1\n\n', 'id: 1\n\n']);
    await world.put('flag', { enabled: false });
    await world.put('flag', { enabled: true });
    expect(await openings('1')).toEqual([event(3), event(3)]);
    expect(await openings('3')).toEqual(['id: 3\n\n', 'id: 3\n\n']);
    // Of a database that was restored to an earlier state.
    expect(await openings('9')).toEqual([event(3), event(3)]);
    expect(await openings('x')).toEqual([event(3), event(3)]);
  });

  test('S16.6 whatever is wrong with a ticket, the answer is the same', async () => {
    const world = await World.make(subject(), FLAG);
    const other = await World.make(subject(), FLAG);
    const path = await streamPath(world);
    const ticketOf = (address: string) => new URLSearchParams(address.split('?')[1]).get('ticket') ?? '';
    const [id, environment, expiry, signature] = ticketOf(path).split('.');

    const revoked = await world.management.createKey(world.project, ['production']);
    const ofRevoked = await streamPath(world, { key: revoked.key });
    await world.management.revokeKey(revoked.id);
    const ofStaging = ticketOf(await streamPath(world, { environment: 'staging' })).split('.')[1];
    const ofOther = ticketOf(await streamPath(other)).split('.');

    const refused = {
      missing: '/ofrep/v1/stream',
      empty: '/ofrep/v1/stream?ticket=',
      'of another form': '/ofrep/v1/stream?ticket=abc',
      doubled: `${path}&ticket=${ticketOf(path)}`,
      'for another environment': `/ofrep/v1/stream?ticket=${[id, ofStaging, expiry, signature].join('.')}`,
      'for another project': `/ofrep/v1/stream?ticket=${[id, ofOther[1], expiry, signature].join('.')}`,
      'of another key': `/ofrep/v1/stream?ticket=${[ofOther[0], environment, expiry, signature].join('.')}`,
      'with a later end': `/ofrep/v1/stream?ticket=${[id, environment, `${expiry}0`, signature].join('.')}`,
      forged: path.replace(/.{43}$/, 'A'.repeat(43)),
      'of a revoked key': ofRevoked,
      'the key itself': `/ofrep/v1/stream?ticket=${world.key}`,
      'in a header': '/ofrep/v1/stream',
    };

    const bodies = new Set<string>();
    for (const [name, address] of Object.entries(refused)) {
      const headers: [string, string][] = [['X-Request-Id', 'r1']];
      if (name === 'in a header') headers.push(['Authorization', `Bearer ${ticketOf(path)}`]);
      const answer = await world.raw(address, { headers });
      expect([name, answer.status]).toEqual([name, 401]);
      expect(answer.headers.get('Content-Type')).toBe('application/json');
      bodies.add(answer.text);
    }

    expect([...bodies].map((body) => JSON.parse(body))).toEqual([
      {
        error: 'invalid_api_key',
        message: expect.any(String),
        docs: expect.stringMatching(/\/errors\/invalid_api_key$/),
        errorCode: 'GENERAL',
        errorDetails: expect.any(String),
      },
    ]);
    for (const secret of [world.key, signature ?? '']) expect([...bodies].join()).not.toContain(secret);
  });

  test('S16.7 revoking the key ends the streams of its tickets, and no others', async () => {
    const world = await World.make(subject(), FLAG);
    const revoked = await world.management.createKey(world.project, ['production', 'staging']);
    const closing = [
      await openEvents(world, await streamPath(world, { key: revoked.key })),
      await openEvents(world, await streamPath(world, { key: revoked.key, environment: 'staging' })),
    ];
    const staying = await openEvents(world, await streamPath(world));
    for (const stream of [...closing, staying]) await stream.nextFrame();
    await world.management.revokeKey(revoked.id);
    await world.put('flag', { enabled: false });
    for (const stream of closing) {
      expect((await stream.untilEnded()).how).toBe('closed');
      expect(stream.frames.length).toBe(1);
    }
    expect((await staying.nextFrame()).raw).toBe(event(2));
    staying.close();
  });

  test('S16.7 the expiry of the key and the end of the environment end the stream', async () => {
    const world = await World.make(subject(), FLAG);
    const [expiring, expiresAt] = await beforeDeadline(async (deadline) => {
      const key = await world.createExpiringKey(deadline);
      return [await openEvents(world, await streamPath(world, { key })), deadline] as const;
    }, 2_500);
    await world.management.createEnvironment(world.project, 'preview');
    const preview = await world.management.createKey(world.project, ['preview']);
    const path = await streamPath(world, { key: preview.key, environment: 'preview' });
    const deleted = await openEvents(world, path);
    await world.management.deleteEnvironment(world.project, 'preview');
    expect((await deleted.untilEnded()).how).toBe('closed');
    const again = await openEvents(world, path);
    expect(again.status).toBe(401);
    again.close();
    expect((await expiring.untilEnded()).how).toBe('closed');
    expect(expiring.end?.at).toBeGreaterThanOrEqual(expiresAt - 20);
  });

  test('S16.8 a read for an event is at least as new as the event', async () => {
    const world = await World.make(subject(), FLAG);
    const stream = await openEvents(world, await streamPath(world));
    await stream.nextFrame();
    for (let value = 1; value <= 5; value++) {
      const [{ data }] = await Promise.all([stream.nextFrame(), world.put('flag', { enabled: true, value })]);
      const { etag } = JSON.parse(data);
      const { body } = await readBulk(world, {
        query: `?flagConfigEtag=${encodeURIComponent(etag)}`,
      });
      expect(body.metadata.revision).toBe(value + 1);
      expect(body.flags).toContainEqual(expect.objectContaining({ key: 'flag', value }));
    }
    stream.close();
  });

  test('S16.8 a read for an event that this node does not get is answered, and says that it may be stale', async () => {
    const world = await World.make(subject(), FLAG);
    const { answer, body } = await readBulk(world, { query: '?flagConfigEtag=%22999%22' });
    expect(answer.status).toBe(200);
    expect(body.metadata.revision).toBe(1);
    expect(answer.headers.get('X-Flags-Stale')).toMatch(/^\d+$/);
    // On a busy machine any answer may be old for a moment.
    for (const query of ['?flagConfigEtag=abc', '?flagConfigEtag=', '?flagConfigLastModified=1771622898'])
      await until(`${query} names no event`, async () => {
        const { headers } = (await readBulk(world, { query })).answer;
        return !headers.has('X-Flags-Stale');
      });
  });

  test('S16.9 only GET opens the stream', async () => {
    const world = await World.make(subject(), FLAG);
    const path = await streamPath(world);
    for (const method of ['POST', 'PUT', 'HEAD', 'OPTIONS']) {
      const answer = await fetch(`${world.url}${path}`, { method });
      await answer.body?.cancel();
      expect([method, answer.status, answer.headers.get('Allow')]).toEqual([method, 405, 'GET']);
    }
  });

  test('S16.10 the streams of OFREP count among the streams of their key', async () => {
    const world = await World.make(subject(), FLAG);
    const maps = await world.stream();
    const events = await openEvents(world, await streamPath(world));
    const clients = async () => {
      const answer = await world.manage('GET', `/api/projects/${world.project}/clients`);
      return JSON.stringify(await answer.json());
    };
    await until('both streams are reported', async () => (await clients()).includes('"streams":2'));
    await maps.nextFrame();
    await events.nextFrame();
    const { seq } = await world.management.putState(world.project, 'production', 'flag', { enabled: false });
    const delivery = await until('both have seen the change', async () => {
      const answer = await world.manage('GET', `/api/changes/${seq}/delivery`);
      const body = (await answer.json()) as { streams?: number; seen?: number };
      return body.seen === 2 ? body : undefined;
    });
    expect(delivery).toMatchObject({ streams: 2, seen: 2 });
    maps.close();
    events.close();
  });
});
