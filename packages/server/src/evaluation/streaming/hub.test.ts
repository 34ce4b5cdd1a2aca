import { afterEach, beforeEach, describe, expect, jest, spyOn, test } from 'bun:test';
import { within } from '@halyard/testing';
import type { DeliveryProgress } from '../../domain/delivery.ts';
import { LiveEnvironment } from '../catalog/live-environment.ts';
import { type CloseCause, Hub } from './hub.ts';

const hubs: Hub[] = [];

afterEach(() => {
  for (const hub of hubs.splice(0)) hub.close();
});

const NEW_LINE = 10;

function setUp(maxQueuedBytes = 1024 * 1024) {
  const closed: CloseCause[] = [];
  const hub = new Hub({ maxQueuedBytes, onClosed: (cause) => closed.push(cause) });
  hubs.push(hub);
  const environment = environmentNamed('production');
  /** Makes the next revision, in which the counter is `value`, and sends it. */
  const change = (value: unknown) => {
    const difference = environment.apply(environment.revision + 1, [
      ['counter', `{"enabled":true,"value":${JSON.stringify(value)}}`],
    ]);
    hub.broadcast(environment, undefined, difference);
  };
  return { hub, environment, change, closed };
}

function environmentNamed(name: string): LiveEnvironment {
  return new LiveEnvironment({ id: `id-${name}`, projectId: 'p', name, revision: 0 });
}

function frame(value: unknown): string {
  return `data: {"counter":{"enabled":true,"value":${JSON.stringify(value)}}}\n\n`;
}

/** The event that sets the counter, from the revision before; as a change from nothing where `from` is `null`. */
function changeTo(value: unknown, to: number, from: number | null = to - 1): string {
  const set = `{"counter":{"enabled":true,"value":${JSON.stringify(value)}}}`;
  return `event: change\ndata: {"from":${from},"to":${to},"set":${set},"removed":[]}\n\n`;
}

/** Reads until the stream ends or `count` chunks have come. */
async function read(stream: ReadableStream<Uint8Array>, count = Number.POSITIVE_INFINITY): Promise<string[]> {
  const chunks: string[] = [];
  const reader = stream.getReader();
  while (chunks.length < count) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(new TextDecoder().decode(value));
  }
  reader.releaseLock();
  return chunks;
}

describe('Hub', () => {
  test('the first frame is the map at the moment of opening, then each change is one frame', async () => {
    const { hub, environment, change } = setUp();
    change(1);
    const stream = hub.open(environment);
    for (const n of [2, 3, 4]) change(n);
    expect(await read(stream, 4)).toEqual([frame(1), frame(2), frame(3), frame(4)]);
  });

  test('every subscriber gets the same bytes', async () => {
    const { hub, environment } = setUp();
    const readers = [hub.open(environment).getReader(), hub.open(environment).getReader()];
    const [a, b] = await Promise.all(readers.map((reader) => reader.read()));
    expect(a?.value).toBe(b?.value as Uint8Array<ArrayBuffer>);
  });

  test('a stream of events has one for each change, among streams of maps, and no map is encoded for it alone', async () => {
    const { hub, environment, change } = setUp();
    const events = hub.openEvents(environment, 'k', 'id: 0\n\n');
    const encoded = spyOn(environment, 'frame');
    change(1);
    expect(encoded).not.toHaveBeenCalled();
    const maps = hub.open(environment);
    change(2);
    expect(await read(maps, 2)).toEqual([frame(1), frame(2)]);
    const event = (revision: number) =>
      `id: ${revision}\ndata: {"type":"refetchEvaluation","etag":"\\"${revision}\\""}\n\n`;
    expect(await read(events, 3)).toEqual(['id: 0\n\n', event(1), event(2)]);
    expect(hub.streamsByKey().get(environment.id)).toEqual(
      new Map([
        ['k', 1],
        ['', 1],
      ]),
    );
    hub.closeKey('k');
    expect(hub.streamsOfKey('k')).toBe(0);
    expect(await read(events)).toEqual([]);
    expect(hub.size).toBe(1);
  });

  test('a stream of changes has one event for each change, made once for all, and only while one is open', async () => {
    const { hub, environment, change } = setUp();
    const made = spyOn(environment, 'change');
    const maps = hub.open(environment);
    change(1);
    expect(made).not.toHaveBeenCalled();

    const [changes, twin] = [hub.openChanges(environment, 'k'), hub.openChanges(environment, 'k')];
    const encoded = spyOn(environment, 'frame');
    for (const value of [2, 3]) change(value);
    expect(made).toHaveBeenCalledTimes(2);
    // A change that makes no difference to readers has an event all the same.
    hub.broadcast(environment, undefined, environment.apply(4, [['counter', '{"enabled":true,"value":3}']]));
    hub.broadcast(environment, undefined, environment.apply(5, [['counter', null]]));
    // The difference of this one is not known.
    environment.apply(7, [['counter', '{"enabled":true,"value":7}']]);
    hub.broadcast(environment);

    const events = await read(changes, 6);
    expect(events).toEqual([
      changeTo(1, 1, null),
      changeTo(2, 2),
      changeTo(3, 3),
      'event: change\ndata: {"from":3,"to":4,"set":{},"removed":[]}\n\n',
      'event: change\ndata: {"from":4,"to":5,"set":{},"removed":["counter"]}\n\n',
      changeTo(7, 7, null),
    ]);
    expect(await read(twin, 6)).toEqual(events);
    expect((await read(maps, 7)).at(-1)).toBe(frame(7));

    await maps.cancel();
    encoded.mockClear();
    change(8);
    expect(encoded).not.toHaveBeenCalled();
    hub.closeKey('k');
    expect(hub.size).toBe(0);
  });

  test.each([
    // 17 events have 985 bytes.
    ['events', 17, (hub: Hub, environment: LiveEnvironment) => hub.openEvents(environment, 'k', ':\n\n')],
    // The first one and nine more have 937.
    ['changes', 9, (hub: Hub, environment: LiveEnvironment) => hub.openChanges(environment, 'k')],
  ])('a reader of %s that takes nothing is cut once the limit in bytes is reached', async (_, most, open) => {
    const { hub, environment, change, closed } = setUp(1000);
    const stuck = open(hub, environment);
    for (let n = 1; n <= most; n++) change(n);
    expect(closed).toEqual([]);
    change(most + 1);
    expect(closed).toEqual(['slow']);
    await expect(read(stuck)).rejects.toThrow('stream cut');
  });

  test('a change of one environment is not sent to another', async () => {
    const { hub, environment, change } = setUp();
    const other = hub.open(environmentNamed('staging'));
    const stream = hub.open(environment);
    expect(await read(other, 1)).toEqual(['data: {}\n\n']);
    change(1);
    expect(await read(stream, 2)).toEqual(['data: {}\n\n', frame(1)]);
    hub.closeAll('drain');
    expect(await read(other)).toEqual([]);
  });

  test('sends each of thousands of subscribers every frame in order, newcomers included', async () => {
    const { hub, environment, change } = setUp();
    const streams = Array.from({ length: 2500 }, () => hub.open(environment));
    change(1);
    change(2);
    const newcomer = hub.open(environment);
    change(3);
    const all = await Promise.all(streams.map((stream) => read(stream, 4)));
    expect(new Set(all.map((frames) => frames.join('')))).toEqual(
      new Set([['data: {}\n\n', frame(1), frame(2), frame(3)].join('')]),
    );
    expect(await read(newcomer, 2)).toEqual([frame(2), frame(3)]);
  });

  test('sends nothing more once the log is lost in the middle of a broadcast', async () => {
    const { hub, environment, change, closed } = setUp();
    const streams = Array.from({ length: 2500 }, () => hub.open(environment));
    const readers = streams.map((stream) => stream.getReader());
    await Promise.all(readers.map((reader) => reader.read()));
    // Asked for beforehand, so that what is handed to a stream counts although the stream ends in the same turn.
    const next = readers.map((reader) => reader.read());
    change(1);
    hub.closeAll('listener');
    const sent = (await Promise.all(next)).filter(({ value }) => value !== undefined);
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.length).toBeLessThan(1000);
    expect((await Promise.all(readers.map((reader) => reader.read()))).every(({ done }) => done)).toBe(true);
    expect(closed).toEqual(Array.from({ length: 2500 }, () => 'listener'));
    expect(hub.size).toBe(0);
  });

  test('hands out few large frames in one turn of the event loop, however many environments have some', async () => {
    const { hub, environment, change } = setUp();
    const other = environmentNamed('staging');
    const streams = [environment, other].flatMap((each) => Array.from({ length: 50 }, () => hub.open(each)));
    const readers = streams.map((stream) => stream.getReader());
    await Promise.all(readers.map((reader) => reader.read()));
    const next = readers.map((reader) => reader.read());
    const text = 'x'.repeat(250_000);
    change(text);
    other.apply(1, [['counter', `{"enabled":true,"value":"${text}"}`]]);
    hub.broadcast(other);
    const turns = new Set<number>();
    let turn = 0;
    let tick = setImmediate(function count() {
      turn++;
      tick = setImmediate(count);
    });
    const taken = await Promise.all(
      next.map(async (read) => {
        const { value } = await read;
        turns.add(turn);
        return { bytes: value?.length, turn };
      }),
    );
    clearImmediate(tick);
    expect(new Set(taken.map(({ bytes }) => bytes))).toEqual(new Set([frame(text).length]));
    // 100 frames of 0.25 MB.
    expect(turns.size).toBeGreaterThan(15);
    // Neither environment waits for the other.
    const [first, second] = [taken.slice(0, 50), taken.slice(50)].map((own) => own.map((each) => each.turn));
    expect(Math.min(...(second ?? []))).toBeLessThan(Math.max(...(first ?? [])));
  });

  test('disconnects a reader that does not keep up; the others get every frame', async () => {
    const { hub, environment, change, closed } = setUp(10_000);
    const stuck = hub.open(environment);
    const healthy = hub.open(environment).getReader();
    await healthy.read();
    const text = 'x'.repeat(900);
    for (let n = 1; n <= 12; n++) {
      change(`${n}${text}`);
      expect(new TextDecoder().decode((await healthy.read()).value)).toBe(frame(`${n}${text}`));
      expect(closed).toEqual(n * frame(`1${text}`).length < 9900 ? [] : ['slow']);
    }
    await expect(read(stuck)).rejects.toThrow('stream cut');
  });

  test('lets eight frames of any size wait for a reader, and disconnects it at the ninth', async () => {
    const { hub, environment, change, closed } = setUp(1000);
    const text = 'x'.repeat(5000);
    change(`1${text}`);
    const stream = hub.open(environment);
    for (let n = 2; n <= 8; n++) change(`${n}${text}`);
    expect(await read(stream, 8)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => frame(`${n}${text}`)));
    for (let n = 1; n <= 8; n++) change(`${n}${text}`);
    expect(closed).toEqual([]);
    change(`9${text}`);
    expect(closed).toEqual(['slow']);
  });

  test('does not disconnect a reader that is still taking a large map when the next one is small', async () => {
    const { hub, environment, change, closed } = setUp(1000);
    const text = 'x'.repeat(5000);
    change(text);
    const stream = hub.open(environment);
    for (const n of [1, 2, 3]) change(n);
    expect(closed).toEqual([]);
    expect(await read(stream, 4)).toEqual([frame(text), frame(1), frame(2), frame(3)]);
  });

  test('holds the next change back while large frames are on their way, and lets the event loop turn', async () => {
    const { hub, environment, change, closed } = setUp();
    const streams = Array.from({ length: 1000 }, () => hub.open(environment));
    const taking = Promise.all(
      streams.map(async (stream) => {
        const reader = stream.getReader();
        // Large frames come in pieces.
        for (let frames = 0; frames < 41; ) if ((await reader.read()).value?.at(-2) === NEW_LINE) frames++;
      }),
    );
    const text = 'x'.repeat(1024 * 1024);
    let turns = 0;
    const ticking = setInterval(() => turns++, 0);
    for (let n = 1; n <= 40; n++) {
      await hub.room();
      change(`${n}${text}`);
    }
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(3);
    await within('every frame is taken', taking);
    expect(closed).toEqual([]);
    while (hub.room() !== undefined) await hub.room();
  });

  test('abandoned frames do not hold the next change back', async () => {
    const { hub, environment, change } = setUp();
    for (let opened = 0; opened < 1000; opened++) hub.open(environment);
    for (let n = 1; n <= 7; n++) change(`${n}${'x'.repeat(2 * 1024 * 1024)}`);
    expect(hub.room()).toBeDefined();
    hub.closeAll('listener');
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(hub.room()).toBeUndefined();
  });

  test('counts what was taken before the log was lost as seen', async () => {
    const settled: DeliveryProgress[] = [];
    const hub = new Hub({ maxQueuedBytes: 1024, onProgress: (progress) => settled.push(progress) });
    hubs.push(hub);
    const environment = environmentNamed('production');
    const readers = Array.from({ length: 3 }, () => hub.open(environment).getReader());
    await Promise.all(readers.map((reader) => reader.read()));
    const next = readers.map((reader) => reader.read());
    environment.apply(1, [['a', '{"enabled":true}']]);
    hub.broadcast(environment, { seq: 1, at: Date.now() });
    hub.closeAll('listener');
    await Promise.all(next);
    expect(settled).toMatchObject([{ seq: 1, streams: 3, seen: 3, closed: 0, isSettled: true }]);
  });

  test('closing a key ends its streams and no others, at once', async () => {
    const { hub, environment, change } = setUp();
    const revoked = hub.open(environment, 'key-1');
    const kept = hub.open(environment, 'key-2');
    await read(revoked, 1);
    hub.closeKey('key-1');
    change(1);
    expect(await read(revoked)).toEqual([]);
    expect(await read(kept, 2)).toEqual(['data: {}\n\n', frame(1)]);
    expect([hub.streamsOfKey('key-1'), hub.streamsOfKey('key-2')]).toEqual([0, 1]);
  });

  test('a reader that goes away is forgotten', async () => {
    const { hub, environment, closed } = setUp();
    await hub.open(environment, 'key-1').cancel();
    expect([hub.size, hub.streamsOfKey('key-1')]).toEqual([0, 0]);
    expect(closed).toEqual(['client']);
  });

  test('draining ends every stream within the window', async () => {
    const { hub, environment, closed } = setUp();
    const streams = Array.from({ length: 100 }, () => hub.open(environment));
    await Promise.all(streams.map((stream) => read(stream, 1)));
    await hub.drain(200);
    expect(closed).toEqual(Array.from({ length: 100 }, () => 'drain'));
    expect((await Promise.all(streams.map((stream) => read(stream)))).flat()).toEqual([]);
  });
});

describe('keep-alive', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  test('an idle stream gets one comment every fifteen seconds, and never an empty data line', async () => {
    const { hub, environment } = setUp();
    const [stream, changes] = [hub.open(environment), hub.openChanges(environment, 'k')];
    jest.advanceTimersByTime(30_000);
    expect(await read(stream, 3)).toEqual(['data: {}\n\n', ':\n\n', ':\n\n']);
    expect((await read(changes, 3)).slice(1)).toEqual([':\n\n', ':\n\n']);
  });

  test('does not disconnect a reader that is still taking a large map', async () => {
    const { hub, environment, change, closed } = setUp(1000);
    change('x'.repeat(5000));
    const stream = hub.open(environment);
    jest.advanceTimersByTime(30_000);
    expect(closed).toEqual([]);
    expect(await read(stream, 1)).toEqual([frame('x'.repeat(5000))]);
    jest.advanceTimersByTime(15_000);
    expect(await read(stream, 1)).toEqual([':\n\n']);
  });

  test('checks with each one whether a reader without a key is still authorized', async () => {
    const { hub, environment, change, closed } = setUp();
    let isSignedIn = true;
    const staying = hub.open(environment, undefined, async () => true);
    const leaving = hub.open(environment, undefined, async () => isSignedIn);
    const unknown = hub.open(environment, undefined, () => Promise.reject(new Error('away')));
    for (const stream of [staying, leaving, unknown]) await read(stream, 1);
    jest.advanceTimersByTime(15_000);
    expect([await read(unknown), await read(leaving, 1)]).toEqual([[], [':\n\n']]);
    isSignedIn = false;
    jest.advanceTimersByTime(15_000);
    expect(await read(leaving)).toEqual([]);
    change(1);
    expect(await read(staying, 3)).toEqual([':\n\n', ':\n\n', frame(1)]);
    expect([hub.size, closed]).toEqual([1, ['key', 'key']]);
  });
});
