import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { IncomingBodies } from './incoming-bodies.ts';

setDefaultTimeout(60_000);

const KILOBYTE = 1024;
const LIMITS = { all: 300 * KILOBYTE, author: 200 * KILOBYTE };

/** A request whose body comes piece by piece. */
function sending(length?: number) {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (made) => {
      controller = made;
    },
  });
  const headers: Record<string, string> = length === undefined ? {} : { 'Content-Length': String(length) };
  return {
    request: new Request('http://node/', { method: 'POST', headers, body }),
    send: (bytes: number) => controller?.enqueue(new Uint8Array(bytes)),
    end: () => controller?.close(),
  };
}

const limited = { code: 'rate_limited', retryAfterSeconds: 1 };
const busy = { code: 'internal_error', retryAfterSeconds: 1 };

describe('bodies on their way', () => {
  test('count by the length that is announced, before anything has come', async () => {
    const bodies = new IncomingBodies({ limits: LIMITS });
    const first = sending(150 * KILOBYTE);
    const reading = bodies.read(first.request, 1_000_000, 'ada');
    const refused = bodies.read(sending(100 * KILOBYTE).request, 1_000_000, 'ada');
    await expect(refused).rejects.toMatchObject(limited);
    const bob = bodies.read(sending(149 * KILOBYTE).request, 1_000_000, 'bob');
    await expect(bodies.read(sending(2 * KILOBYTE).request, 1_000_000, 'eve')).rejects.toMatchObject(busy);
    void bob.catch(() => {});
    first.send(150 * KILOBYTE);
    first.end();
    const body = await reading;
    expect(body.bytes.length).toBe(150 * KILOBYTE);
    // It counts until the work on it is done.
    await expect(bodies.read(sending(100 * KILOBYTE).request, 1_000_000, 'ada')).rejects.toMatchObject(
      limited,
    );
    body[Symbol.dispose]();
    const next = sending(KILOBYTE);
    next.send(KILOBYTE);
    next.end();
    expect((await bodies.read(next.request, 1_000_000, 'ada')).bytes.length).toBe(KILOBYTE);
  });

  test('count as they come when no length is announced', async () => {
    const bodies = new IncomingBodies({ limits: LIMITS });
    const open = sending();
    const reading = bodies.read(open.request, 1_000_000, 'ada');
    open.send(150 * KILOBYTE);
    open.send(100 * KILOBYTE);
    await expect(reading).rejects.toMatchObject(limited);
    // What was refused counts no longer.
    const other = sending();
    const again = bodies.read(other.request, 1_000_000, 'ada');
    other.send(150 * KILOBYTE);
    other.end();
    expect((await again).bytes.length).toBe(150 * KILOBYTE);
  });

  test.each([
    ['a small body', 100],
    ['a large body', 150 * KILOBYTE],
    ['a body in chunks', undefined],
  ])('of which no byte comes are refused: %s', async (_, length) => {
    const bodies = new IncomingBodies({ limits: LIMITS, silenceMs: 20 });
    const { request, send } = sending(length);
    send(50);
    await expect(bodies.read(request, 1_000_000, 'ada')).rejects.toMatchObject({
      code: 'invalid_argument',
      message: 'The body broke off before its end: send all of it.',
    });
    const whole = sending(150 * KILOBYTE);
    whole.send(150 * KILOBYTE);
    whole.end();
    await bodies.read(whole.request, 1_000_000, 'ada');
  });

  test('are refused when they are larger than the operation allows', async () => {
    const bodies = new IncomingBodies({ limits: LIMITS });
    for (const length of [200, undefined]) {
      const { request, send } = sending(length);
      send(200);
      await expect(bodies.read(request, 100, 'ada')).rejects.toMatchObject({ code: 'invalid_argument' });
    }
  });
});
