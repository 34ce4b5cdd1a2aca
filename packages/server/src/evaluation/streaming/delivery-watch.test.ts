import { afterEach, describe, expect, jest, test } from 'bun:test';
import { within } from '@halyard/testing';
import fc from 'fast-check';
import type { DeliveryProgress } from '../../domain/delivery.ts';
import { EventStream } from '../../http/event-stream.ts';
import { LiveEnvironment } from '../catalog/live-environment.ts';
import { DeliveryWatch, type StreamForm } from './delivery-watch.ts';
import { Hub } from './hub.ts';

const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

class FormedStream extends EventStream {
  readonly form: StreamForm;

  constructor(form: StreamForm) {
    super({ maxQueuedBytes: 2 ** 30 });
    this.form = form;
  }
}

/** A stream whose reader takes a chunk only when asked to. */
class Reader {
  readonly stream: FormedStream;
  readonly #reader: { read(): Promise<unknown>; cancel(): Promise<void> };

  constructor(form: StreamForm) {
    this.stream = new FormedStream(form);
    this.#reader = this.stream.open(new Uint8Array(0), () => {}).getReader();
    // The empty first chunk.
    void this.#reader.read();
  }

  get isOpen(): boolean {
    return this.stream.queuedBytes !== undefined;
  }

  /** Goes away. */
  leave(): Promise<void> {
    return this.#reader.cancel();
  }

  async take(): Promise<void> {
    await this.#reader.read();
  }
}

function setUp(count: number) {
  const told: DeliveryProgress[] = [];
  const clock = { now: 1_000_000, elapsed: 0 };
  const watch = new DeliveryWatch({
    environmentId: 'e',
    onProgress: (progress) => told.push(progress),
    now: () => clock.now,
    elapsed: () => clock.elapsed,
  });
  // Every form, in turn.
  const forms = ['map', 'change', 'event'] as const;
  const readers: Reader[] = [];
  const join = () => readers.push(new Reader(forms[readers.length % forms.length] ?? 'map'));
  for (let n = 0; n < count; n++) join();
  let seq = 0;
  /** Sends a map of so many bytes or an event, committed now, to the open streams. */
  const send = (bytes = 100) => {
    const open = readers.filter(({ isOpen }) => isOpen).map(({ stream }) => stream);
    const frames = { map: new Uint8Array(bytes), change: new Uint8Array(80), event: new Uint8Array(60) };
    for (const stream of open) stream.send(frames[stream.form]);
    watch.sent(frames, open, { seq: ++seq, at: clock.now });
  };
  const last = (of: number) => told.findLast((progress) => progress.seq === of);
  return { told, clock, watch, readers, join, send, last };
}

async function takeAll(readers: readonly Reader[]): Promise<void> {
  await Promise.all(readers.map((reader) => reader.take()));
}

describe('DeliveryWatch', () => {
  test('a change that every stream has taken is settled at the first look', async () => {
    const { told, clock, watch, readers, send } = setUp(5);
    send();
    await takeAll(readers);
    clock.now += 7;
    watch.look();
    expect(told).toEqual([
      { seq: 1, environmentId: 'e', streams: 5, seen: 5, closed: 0, slowestMs: 7, isSettled: true },
    ]);
  });

  test('a writer whose clock is ahead causes no negative time', async () => {
    const { clock, watch, readers, send, last } = setUp(1);
    send();
    await takeAll(readers);
    clock.now -= 5000;
    watch.look();
    expect(last(1)).toMatchObject({ seen: 1, slowestMs: 0 });
  });

  test('counts a stuck reader as not seen after five seconds', async () => {
    const { clock, watch, readers, send, last } = setUp(3);
    send();
    await takeAll(readers.slice(1));
    clock.now += 2;
    watch.look();
    expect(last(1)).toMatchObject({ streams: 3, seen: 2, closed: 0, slowestMs: 2, isSettled: false });
    clock.now += 5000;
    clock.elapsed += 5000;
    watch.look();
    expect(last(1)).toMatchObject({ streams: 3, seen: 2, closed: 0, slowestMs: 2, isSettled: true });
  });

  test('counts a slow reader as seen when it takes the frame, and its time as the slowest', async () => {
    const { told, clock, watch, readers, send, last } = setUp(2);
    send();
    await readers[0]?.take();
    watch.look();
    watch.look();
    // A look that finds nothing new reports nothing.
    expect(told).toHaveLength(1);
    clock.now += 300;
    await readers[1]?.take();
    watch.look();
    expect(last(1)).toMatchObject({ seen: 2, slowestMs: 300, isSettled: true });
  });

  test('a frame counts as seen while later ones are still queued behind it', async () => {
    const { watch, readers, send, last } = setUp(1);
    send(100);
    send(50);
    send(100);
    watch.look();
    expect([1, 2, 3].map((seq) => last(seq)?.seen)).toEqual([0, 0, 0]);
    await readers[0]?.take();
    watch.look();
    expect([1, 2, 3].map((seq) => last(seq)?.seen)).toEqual([1, 0, 0]);
    await readers[0]?.take();
    await readers[0]?.take();
    watch.look();
    expect([1, 2, 3].map((seq) => last(seq)?.isSettled)).toEqual([true, true, true]);
  });

  test('a stream that ended before it was seen has not seen the change', async () => {
    const { watch, readers, send, last } = setUp(3);
    send();
    await readers[0]?.take();
    readers[1]?.stream.end();
    watch.look();
    expect(last(1)).toMatchObject({ streams: 3, seen: 1, closed: 1, isSettled: false });
    await readers[2]?.leave();
    watch.look();
    expect(last(1)).toMatchObject({ streams: 3, seen: 1, closed: 2, isSettled: true });
  });

  test('does not count a settled change when a reader catches up', async () => {
    const { told, clock, watch, readers, send, last } = setUp(1);
    send();
    watch.look();
    clock.elapsed += 4000;
    send();
    clock.elapsed += 1000;
    watch.look();
    expect(last(1)).toMatchObject({ seen: 0, isSettled: true });
    await readers[0]?.take();
    await readers[0]?.take();
    watch.look();
    expect(last(1)).toMatchObject({ seen: 0, isSettled: true });
    expect(last(2)).toMatchObject({ seen: 1, isSettled: true });
    expect(told.filter(({ isSettled }) => isSettled)).toHaveLength(2);
  });

  test('frames without a pause do not delay the next look', async () => {
    jest.useFakeTimers();
    closers.push(() => void jest.useRealTimers());
    const { told, readers, send } = setUp(1);
    for (let n = 0; n < 4; n++) {
      send();
      await readers[0]?.take();
      // Less than the millisecond after which the streams are looked at.
      jest.advanceTimersByTime(0.6);
    }
    expect(told.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  });

  test('counts the same as a simple model, for any sequence of events', async () => {
    const step = fc.oneof(
      fc.record({ what: fc.constant('send' as const), bytes: fc.integer({ min: 1, max: 300 }) }),
      fc.record({ what: fc.constantFrom('take', 'end', 'join'), who: fc.nat({ max: 9 }) }),
      fc.record({ what: fc.constantFrom('look' as const, 'wait' as const) }),
    );

    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { clock, watch, readers, join, send, told } = setUp(3);
        const taken = new Map<Reader, number>();
        const sentTo: { who: Set<Reader>; seen: Set<Reader>; sentAt: number; isSettled: boolean }[] = [];
        const received = new Map<Reader, number[]>();

        const look = () => {
          for (const [index, round] of sentTo.entries()) {
            if (round.isSettled) continue;
            for (const reader of round.who) {
              const got = (received.get(reader) ?? []).slice(0, taken.get(reader) ?? 0);
              if (reader.isOpen && got.includes(index)) round.seen.add(reader);
            }
            const gone = [...round.who].filter((one) => !one.isOpen && !round.seen.has(one));
            const isDone = round.seen.size + gone.length === round.who.size;
            round.isSettled = isDone || clock.elapsed - round.sentAt >= 5000;
          }

          watch.look();
          for (const [index, round] of sentTo.entries()) {
            const progress = told.findLast(({ seq }) => seq === index + 1);
            expect(progress).toMatchObject({
              streams: round.who.size,
              seen: round.seen.size,
              isSettled: round.isSettled,
            });
          }
        };

        for (const each of steps) {
          const reader = 'who' in each ? readers[each.who % readers.length] : undefined;
          if (each.what === 'look') look();
          else if (each.what === 'wait') clock.elapsed += 2000;
          else if (each.what === 'join') join();
          else if (each.what === 'end') reader?.stream.end();
          else if (each.what === 'send' && 'bytes' in each) {
            const who = readers.filter(({ isOpen }) => isOpen);
            for (const one of who) received.set(one, [...(received.get(one) ?? []), sentTo.length]);
            sentTo.push({ who: new Set(who), seen: new Set(), sentAt: clock.elapsed, isSettled: false });
            send(each.bytes);
          } else if (reader?.isOpen === true) {
            const count = taken.get(reader) ?? 0;
            if (count >= (received.get(reader) ?? []).length) continue;
            taken.set(reader, count + 1);
            await reader.take();
          }
        }

        look();
        expect(told.filter(({ isSettled }) => isSettled).map(({ seq }) => seq)).toEqual([
          ...new Set(told.filter(({ isSettled }) => isSettled).map(({ seq }) => seq)),
        ]);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a hub that knows the change of a frame', () => {
  function openHub(count: number) {
    const settled = Promise.withResolvers<DeliveryProgress>();
    const told: DeliveryProgress[] = [];
    const onProgress = (progress: DeliveryProgress) => {
      told.push(progress);
      if (progress.isSettled) settled.resolve(progress);
    };
    const hub = new Hub({ maxQueuedBytes: 2 ** 20, onProgress });
    closers.push(() => hub.close());
    const environment = new LiveEnvironment({ id: 'e', projectId: 'p', name: 'production', revision: 0 });
    const readers = Array.from({ length: count }, () => hub.open(environment).getReader());
    const change = () => {
      environment.apply(environment.revision + 1, [['flag', '{"enabled":true}']]);
      hub.broadcast(environment, { seq: environment.revision, at: Date.now() });
    };
    return {
      hub,
      environment,
      readers,
      change,
      told,
      settled: () => within('the delivery is settled', settled.promise),
    };
  }

  test('reports k of k streams, without those that open after the frame', async () => {
    const { hub, environment, readers, change, settled } = openHub(1000);
    change();
    hub.open(environment);
    for (const reader of readers) {
      await reader.read();
      await reader.read();
    }
    expect(await settled()).toMatchObject({ seq: 1, streams: 1000, seen: 1000, closed: 0, isSettled: true });
  });

  test('does not count streams that never got the frame when the log is lost during the broadcast', async () => {
    const { hub, readers, change, settled } = openHub(1000);
    for (const reader of readers) await reader.read();
    change();
    hub.closeAll('listener');
    expect(await settled()).toMatchObject({ streams: 1000, seen: 0, closed: 1000, isSettled: true });
  });

  test('reports nothing if no stream is open', async () => {
    const { change, told } = openHub(0);
    change();
    await Bun.sleep(20);
    expect(told).toEqual([]);
  });
});
