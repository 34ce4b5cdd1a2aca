import { describe, expect, test } from 'bun:test';
import { EventStream } from './event-stream.ts';

describe('EventStream', () => {
  test('checks a reader once at a time, and lets it read until the check has answered', async () => {
    const answers: PromiseWithResolvers<boolean>[] = [];
    const stillValid = () => {
      const answer = Promise.withResolvers<boolean>();
      answers.push(answer);
      return answer.promise;
    };
    const stream = new EventStream({ maxQueuedBytes: 1024, stillValid });
    const first = stream.isAuthorized();
    expect(await stream.isAuthorized()).toBe(true);
    expect(answers).toHaveLength(1);
    answers[0]?.resolve(false);
    expect(await first).toBe(false);
    const second = stream.isAuthorized();
    answers[1]?.reject(new Error('the database is away'));
    expect(await second).toBe(false);
  });

  test('repeats a check that began before the newest one was asked for', async () => {
    const answers = [true, false];
    const stream = new EventStream({
      maxQueuedBytes: 1024,
      stillValid: async () => answers.shift() === true,
    });
    const first = stream.isAuthorized();
    void stream.isAuthorized();
    expect([await first, answers]).toEqual([false, []]);
  });

  test('a stream that ends with its key needs no check', async () => {
    const stream = new EventStream({ maxQueuedBytes: 1024 });
    expect([stream.needsRecheck, await stream.isAuthorized()]).toEqual([false, true]);
  });

  test('a reader that leaves is reported once, and its stream drops what is sent', async () => {
    const gone: EventStream[] = [];
    const stream = new EventStream({ maxQueuedBytes: 1024 });
    const body = stream.open(new Uint8Array(8), (each) => gone.push(each));
    expect(stream.queuedBytes).toBe(8);
    await body.cancel();
    stream.end();
    expect([gone, stream.queuedBytes, stream.send(new Uint8Array(4096))]).toEqual([
      [stream],
      undefined,
      true,
    ]);
  });

  test('sends a large frame in pieces, so that a reader that stops holds up a piece of it', async () => {
    const frame = new TextEncoder().encode(`data: ${'0123456789'.repeat(70_000)}\n\n`);
    const stream = new EventStream({ maxQueuedBytes: 1024 });
    const reader = stream.open(frame, () => {}).getReader();
    let taken = 0;
    while (taken < frame.length) {
      const { value = new Uint8Array() } = await reader.read();
      expect(value.length).toBeLessThanOrEqual(256 * 1024);
      expect(Buffer.compare(value, frame.subarray(taken, taken + value.length))).toBe(0);
      taken += value.length;
    }
    stream.end();
    expect(await reader.read()).toEqual({ done: true, value: undefined });
  });
});
