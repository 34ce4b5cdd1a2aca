import { expect, test } from 'bun:test';
import { beforeDeadline } from '@halyard/testing';
import { conformance } from './subject.ts';
import { World } from './world.ts';

const FLAG = { flag: { enabled: true, value: 0 } };

conformance('12. Decided: streams', (subject) => {
  test('S12.1 the first frame is the current map, at once', async () => {
    const world = await World.make(subject(), FLAG);
    const first = await world.stream();
    expect((await first.nextFrame()).raw).toBe('data: {"flag":{"enabled":true,"value":0}}\n\n');
    first.close();
    await world.put('flag', { enabled: false });
    const again = await world.stream();
    expect((await again.nextFrame()).raw).toBe('data: {"flag":{"enabled":false}}\n\n');
    again.close();
  });

  test('S12.1 no change is lost between the first frame and the next, however they race', async () => {
    const world = await World.make(subject(), FLAG);
    const last = 40;
    const writing = (async () => {
      for (let value = 1; value <= last; value++) await world.put('flag', { enabled: true, value });
    })();
    const streams = await Promise.all(Array.from({ length: 12 }, () => world.stream()));
    await writing;
    for (const stream of streams) {
      const first = Number(stream.headers.get('X-Flags-Revision'));
      // Revision 1 was the value 0.
      for (let revision = first; revision <= last + 1; revision++) {
        const { data } = await stream.nextFrame();
        expect(JSON.parse(data)).toEqual({ flag: { enabled: true, value: revision - 1 } });
      }
      stream.close();
      expect(stream.frames.length).toBe(last + 2 - first);
    }
  });

  test('S12.2 every change of racing writers makes one frame, in the order of the revisions', async () => {
    const world = await World.make(subject());
    const stream = await world.stream();
    await stream.nextFrame();
    const written = new Map<number, string>();
    await Promise.all(
      Array.from({ length: 6 }, async (_, writer) => {
        for (let round = 0; round < 8; round++) {
          const revision = await world.put(`flag-${writer}`, { enabled: true, value: round });
          written.set(revision, `flag-${writer}=${round}`);
        }
      }),
    );
    expect([...written.keys()].sort((a, b) => a - b)).toEqual(Array.from({ length: 48 }, (_, i) => i + 1));
    let before: Record<string, { value: number }> = {};
    for (let revision = 1; revision <= 48; revision++) {
      const map: typeof before = JSON.parse((await stream.nextFrame()).data);
      const changed = Object.entries(map)
        .filter(([key, state]) => before[key]?.value !== state.value)
        .map(([key, state]) => `${key}=${state.value}`);
      expect(changed).toEqual([written.get(revision) ?? 'nothing']);
      before = map;
    }
    stream.close();
  });

  test('S12.2 all streams of an environment get the same bytes', async () => {
    const world = await World.make(subject(), FLAG);
    const streams = await Promise.all(Array.from({ length: 5 }, () => world.stream()));
    for (let value = 1; value <= 5; value++) await world.put('flag', { enabled: true, value });
    const texts: string[] = [];
    for (const stream of streams) {
      for (let frame = 0; frame < 6; frame++) await stream.nextFrame();
      texts.push(stream.frames.map(({ raw }) => raw).join(''));
      stream.close();
    }
    expect(new Set(texts).size).toBe(1);
  });

  test('S12.3 a write that changes nothing makes no revision and no frame', async () => {
    const world = await World.make(subject(), FLAG);
    const stream = await world.stream();
    await stream.nextFrame();
    expect(await world.put('flag', { enabled: true, value: 0 })).toBe(1);
    const same = [{ key: 'flag', state: { enabled: true, value: 0 } }];
    expect((await world.management.change(world.project, 'production', same)).revision).toBe(1);
    expect(await world.put('flag', { enabled: false })).toBe(2);
    expect((await stream.nextFrame()).data).toBe('{"flag":{"enabled":false}}');
    expect(stream.frames.length).toBe(2);
    stream.close();
  });

  test('S12.4 a change of many flags makes one revision and one frame', async () => {
    const world = await World.make(subject(), FLAG);
    const stream = await world.stream();
    await stream.nextFrame();
    const changes = [
      { key: 'flag', state: null },
      ...Array.from({ length: 20 }, (_, i) => ({ key: `new-${i}`, state: { enabled: true, value: i } })),
    ];
    expect((await world.management.change(world.project, 'production', changes)).revision).toBe(2);
    await world.put('marker', { enabled: true });
    expect(Object.keys(JSON.parse((await stream.nextFrame()).data)).length).toBe(20);
    expect(Object.keys(JSON.parse((await stream.nextFrame()).data)).length).toBe(21);
    stream.close();
  });

  test('S12.5 changes in other environments and projects make no frame', async () => {
    const world = await World.make(subject(), FLAG);
    const other = await World.make(subject(), FLAG);
    const stream = await world.stream();
    await stream.nextFrame();
    await world.put('flag', { enabled: false, value: 'staging' }, 'staging');
    await other.put('flag', { enabled: false, value: 'other project' });
    await world.management.createKey(world.project, ['production']);
    await world.management.request('PATCH', `/api/projects/${world.project}/flags/flag`, {
      body: { description: 'only for people' },
    });
    await world.put('flag', { enabled: true, value: 'mine' });
    expect((await stream.nextFrame()).data).toBe('{"flag":{"enabled":true,"value":"mine"}}');
    expect(stream.frames.length).toBe(2);
    stream.close();
  });

  test('S12.7 the stream asks proxies not to buffer it', async () => {
    const world = await World.make(subject(), FLAG);
    const answer = await fetch(`${world.url}/v1/stream?env=production`, {
      headers: { 'X-Service-Key': world.key, 'Accept-Encoding': 'gzip, zstd, br' },
    });
    await answer.body?.cancel();
    expect(answer.headers.get('Cache-Control')).toBe('no-cache, no-transform');
    expect(answer.headers.get('X-Accel-Buffering')).toBe('no');
    expect(answer.headers.get('Content-Encoding')).toBeNull();
  });

  test('S12.8 revoking a key closes its streams, and nothing more is sent on them', async () => {
    const world = await World.make(subject(), FLAG);
    const revoked = await world.management.createKey(world.project, ['production', 'staging']);
    const closing = [
      await world.stream('production', revoked.key),
      await world.stream('production', revoked.key),
      await world.stream('staging', revoked.key),
    ];
    const staying = await world.stream();
    for (const stream of [...closing, staying]) await stream.nextFrame();
    await world.management.revokeKey(revoked.id);
    await world.put('flag', { enabled: false });
    await world.put('flag', { enabled: false }, 'staging');
    for (const stream of closing) {
      expect((await stream.untilEnded()).how).toBe('closed');
      expect(stream.frames.length).toBe(1);
      expect(stream.unfinished).toBe('');
    }
    expect((await staying.nextFrame()).data).toBe('{"flag":{"enabled":false}}');
    staying.close();
  });

  test('S12.9 the expiry of a key closes its streams', async () => {
    const world = await World.make(subject(), FLAG);
    const staying = await world.stream();
    await staying.nextFrame();
    const [stream, expiresAt] = await beforeDeadline(async (deadline) => {
      const stream = await world.stream('production', await world.createExpiringKey(deadline));
      await stream.nextFrame();
      return [stream, deadline] as const;
    });
    const { how, at } = await stream.untilEnded();
    expect(how).toBe('closed');
    // Not before its time; the clocks of two processes on one machine agree to a few milliseconds.
    expect(at).toBeGreaterThanOrEqual(expiresAt - 20);
    await world.put('flag', { enabled: false });
    await staying.nextFrame();
    expect(stream.frames.length).toBe(1);
    staying.close();
  });

  test('S13.9 the streams of a key that is replaced stay until its end, and the new key reads on', async () => {
    const world = await World.make(subject(), FLAG);
    const [old, made, endsAt] = await beforeDeadline(async (deadline) => {
      const { key, id } = await world.management.createKey(world.project, ['production']);
      const stream = await world.stream('production', key);
      await stream.nextFrame();
      const body = { endsAt: new Date(deadline).toISOString() };
      const answer = await world.management.request('POST', `/api/keys/${id}/replace`, { body });
      await world.put('flag', { enabled: false });
      await stream.nextFrame();
      // S3.4: the answer that creates a key has it.
      return [stream, answer as { key: string }, deadline] as const;
    });
    const { how, at } = await old.untilEnded();
    expect(how).toBe('closed');
    expect(at).toBeGreaterThanOrEqual(endsAt - 20);
    const read = await world.fetch('/v1/flags?env=production', { headers: { 'X-Service-Key': made.key } });
    expect(read.status).toBe(200);
  });

  test('S12.9 a key that expires in years keeps its streams', async () => {
    const world = await World.make(subject(), FLAG);
    const { key } = await world.management.createKey(world.project, ['production'], {
      expiresAt: new Date(Date.now() + 20 * 365 * 86_400_000).toISOString(),
    });
    const stream = await world.stream('production', key);
    await stream.nextFrame();
    await world.put('flag', { enabled: false });
    await stream.nextFrame();
    expect(stream.end).toBeUndefined();
    stream.close();
  });

  test('S12.10 deleting the environment closes its streams', async () => {
    const world = await World.make(subject(), FLAG);
    await world.management.createEnvironment(world.project, 'preview');
    const { key } = await world.management.createKey(world.project, ['preview']);
    const stream = await world.stream('preview', key);
    await stream.nextFrame();
    await world.management.deleteEnvironment(world.project, 'preview');
    expect((await stream.untilEnded()).how).toBe('closed');
    expect(stream.frames.length).toBe(1);
  });

  test('S12.10 deleting the project closes its streams too', async () => {
    const world = await World.make(subject(), FLAG);
    const stream = await world.stream();
    await stream.nextFrame();
    await world.management.deleteProject(world.project);
    expect((await stream.untilEnded()).how).toBe('closed');
    expect((await world.fetch('/v1/flags?env=production')).status).toBe(401);
  });

  test('S12.11 a refused stream is an ordinary answer that ends', async () => {
    const world = await World.make(subject());
    const answer = await world.raw('/v1/stream?env=nowhere');
    expect(answer.status).toBe(404);
    expect(answer.headers.get('Content-Type')).toBe('application/json');
    expect(JSON.parse(answer.text)).toMatchObject({ error: 'environment_not_found' });
  });
});
