import { expect, test } from 'bun:test';
import type { FlagState, MapChange } from '@halyard/protocol';
import { type SseReader, until } from '@halyard/testing';
import { conformance } from './subject.ts';
import { World } from './world.ts';

const FLAG = { flag: { enabled: true, value: 0 } };

/** What a reader of changes has. Its maps keep nothing but what the events say. */
class ChangeReader {
  readonly flags = new Map<string, FlagState>();
  readonly stream: SseReader;
  revision: number | null = null;

  constructor(stream: SseReader) {
    this.stream = stream;
  }

  /** Applies the next event as a reader must, and returns it. */
  async next(): Promise<MapChange> {
    const { data, fields } = await this.stream.nextFrame();
    expect(fields.map(([name]) => name)).toEqual(['event', 'data']);
    expect(fields[0]?.[1]).toBe('change');

    const change: MapChange = JSON.parse(data);
    expect(Object.keys(change)).toEqual(['from', 'to', 'set', 'removed']);
    if (change.from === null) this.flags.clear();
    else expect<number | null>(change.from).toBe(this.revision);
    for (const key of change.removed) expect([key, this.flags.delete(key)]).toEqual([key, true]);
    for (const [key, state] of Object.entries(change.set)) {
      expect([key, this.flags.get(key)]).not.toEqual([key, state]);
      this.flags.set(key, state);
    }
    this.revision = change.to;
    return change;
  }

  get map(): object {
    return Object.fromEntries(this.flags);
  }
}

conformance('26. Stream of changes', (subject) => {
  test('S26.1 only changes=1 asks for changes; anything else in its place is refused after the key', async () => {
    const world = await World.make(subject(), FLAG);
    for (const query of ['changes=0', 'changes=', 'changes=true', 'changes=1&changes=1']) {
      const refused = await world.raw(`/v1/stream?env=production&${query}`);
      expect([query, refused.status, JSON.parse(refused.text)]).toMatchObject([
        query,
        400,
        { error: 'invalid_argument' },
      ]);
    }
    expect((await world.raw('/v1/stream?env=production&changes=0', { headers: [] })).status).toBe(401);
    expect((await world.raw('/v1/stream?env=nowhere&changes=1')).status).toBe(404);
    const read = await world.fetch('/v1/flags?env=production&changes=0');
    expect(await read.json()).toEqual({ environment: 'production', flags: FLAG });
  });

  test('S26.2 S26.3 each change is one event that names the revisions before and after it', async () => {
    const world = await World.make(subject(), { ...FLAG, gone: { enabled: true } });
    const stream = await world.changes();
    expect(stream.headers.get('X-Flags-Revision')).toBe('1');
    await stream.nextFrame();

    await world.putText('flag', '{ "enabled": true, "value": [1.0, "\\u00e9"] }');
    await stream.nextFrame();
    await world.put('gone', { enabled: true }, 'staging');
    const { revision } = await world.management.change(world.project, 'production', [
      { key: 'gone', state: null },
      { key: 'flag', state: { enabled: false } },
    ]);
    expect(revision).toBe(3);
    await stream.nextFrame();
    stream.close();

    expect(stream.text.replaceAll(/^:.*\n\n?/gm, '')).toBe(
      [
        '{"from":null,"to":1,"set":{"flag":{"enabled":true,"value":0},"gone":{"enabled":true}},"removed":[]}',
        '{"from":1,"to":2,"set":{"flag":{"enabled":true,"value":[1.0,"\\u00e9"]}},"removed":[]}',
        '{"from":2,"to":3,"set":{"flag":{"enabled":false}},"removed":["gone"]}',
      ]
        .map((data) => `event: change\ndata: ${data}\n\n`)
        .join(''),
    );
  });

  test('S26.3 S26.5 readers of changes and of maps have the same flags at each revision, while writers race', async () => {
    const world = await World.make(subject());
    const [maps, first] = [await world.stream(), new ChangeReader(await world.changes())];
    const last = 48;

    const writing = Promise.all(
      Array.from({ length: 4 }, async (_, writer) => {
        for (let round = 0; round < last / 4; round++) {
          if (round % 4 === 3)
            await world.management.removeState(world.project, 'production', `flag-${writer}`);
          else await world.put(`flag-${writer}`, { enabled: true, value: round });
        }
      }),
    );
    const late = await Promise.all(
      Array.from({ length: 6 }, async () => new ChangeReader(await world.changes())),
    );
    await writing;

    const byRevision: object[] = [];
    for (let revision = 0; revision <= last; revision++)
      byRevision.push(JSON.parse((await maps.nextFrame()).data));

    for (const reader of [first, ...late]) {
      const opened = Number(reader.stream.headers.get('X-Flags-Revision'));
      for (let revision = opened; revision <= last; revision++) {
        const { from, to } = await reader.next();
        expect([from, to]).toEqual([revision === opened ? null : revision - 1, revision]);
        expect<object | undefined>(reader.map).toEqual(byRevision[revision]);
      }
      expect(reader.stream.frames.length).toBe(last + 1 - opened);
      reader.stream.close();
    }
    maps.close();
  });

  test('S26.5 it opens as a stream of maps does, and ends with its key and its environment', async () => {
    const world = await World.make(subject(), FLAG);
    await world.management.createEnvironment(world.project, 'preview');
    const { key, id } = await world.management.createKey(world.project, ['production']);
    const preview = await world.management.createKey(world.project, ['preview']);
    const [maps, changes] = [await world.stream('production', key), await world.changes('production', key)];
    const [kept, ending] = [await world.changes(), await world.changes('preview', preview.key)];
    for (const stream of [maps, changes, kept, ending]) await stream.nextFrame();

    const own = ['date', 'x-request-id'];
    const headersOf = ({ headers }: SseReader) => [...headers].filter(([name]) => !own.includes(name));
    expect(headersOf(changes)).toEqual(headersOf(maps));

    await world.management.revokeKey(id);
    await world.management.deleteEnvironment(world.project, 'preview');
    for (const stream of [changes, ending]) expect((await stream.untilEnded()).how).toBe('closed');
    await world.put('flag', { enabled: false });
    await kept.nextFrame();
    expect([changes, ending, kept].map(({ frames }) => frames.length)).toEqual([1, 1, 2]);
    kept.close();
    maps.close();
  });

  test('S26.6 streams of changes count among the streams of their key, and in receipts', async () => {
    const world = await World.make(subject(), FLAG);
    const streams = [await world.stream(), await world.changes()];
    const clients = async () =>
      JSON.stringify(await (await world.manage('GET', `/api/projects/${world.project}/clients`)).json());
    await until('both streams are reported', async () => (await clients()).includes('"streams":2'));
    for (const stream of streams) await stream.nextFrame();

    const { seq } = await world.management.putState(world.project, 'production', 'flag', { enabled: false });
    await until('both have seen the change', async () => {
      const answer = await world.manage('GET', `/api/changes/${seq}/delivery`);
      // The shape is the management API's.
      const { streams: all, seen } = (await answer.json()) as { streams?: number; seen?: number };
      return all === 2 && seen === 2;
    });
    for (const stream of streams) stream.close();
  });
});
