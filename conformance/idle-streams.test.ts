import { beforeAll, expect, test } from 'bun:test';
import { KEEP_ALIVE_SECONDS } from '@halyard/protocol';
import { openSse, type SseReader, until } from '@halyard/testing';
import { conformance, SUBJECTS, type Subject } from './subject.ts';
import { World } from './world.ts';

/** The two kinds of streams. */
interface IdleStreams {
  readonly maps: SseReader;
  readonly events: SseReader;
}

/** All of them idle at the same time, because each test waits for a promise of many seconds. */
const idle = new Map<string, Promise<IdleStreams>>();
beforeAll(() => {
  for (const { name, start } of SUBJECTS) {
    const opened = start().then(openBoth);
    // The tests of this subject report it.
    opened.catch(() => {});
    idle.set(name, opened);
  }
});

async function openBoth(subject: Subject): Promise<IdleStreams> {
  const world = await World.make(subject, { flag: { enabled: true, value: 0 } });
  const answer = await world.fetch('/environments/production/ofrep/v1/evaluate/flags', {
    method: 'POST',
    body: '{"context":{"targetingKey":"ana"}}',
  });
  // The shape is OFREP's; where it differs, no stream opens.
  const { eventStreams } = (await answer.json()) as {
    eventStreams: readonly { endpoint: { requestUri: string } }[];
  };
  const headers = { 'Accept-Encoding': 'gzip, zstd, br' };
  const path = eventStreams[0]?.endpoint.requestUri;
  return {
    maps: await world.stream(),
    events: await openSse(`${world.url}${path}`, { headers, timeoutMs: 30_000 }),
  };
}

async function idleStreamsOf({ name }: Subject): Promise<IdleStreams> {
  const streams = await idle.get(name);
  if (streams === undefined) throw new Error('the streams open before the first test');
  return streams;
}

/** Twice the promise, for a busy machine; time itself is the event here. */
async function untilComment(stream: SseReader): Promise<void> {
  await until('a comment comes', () => stream.comments.length > 0, 2 * KEEP_ALIVE_SECONDS * 1000);
}

conformance('12. and 16. Idle streams', (subject) => {
  test('S12.6 an idle stream gets a comment within the promised time and nothing else', async () => {
    const { maps } = await idleStreamsOf(subject());
    await untilComment(maps);
    maps.close();
    expect(maps.text).toMatch(/^data: \{"flag":\{"enabled":true,"value":0\}\}\n\n(:\n\n?)+$/);
  });

  test('S16.5 an idle stream gets comments, is never compressed and passes proxies', async () => {
    const { events } = await idleStreamsOf(subject());
    expect(events.headers.get('Cache-Control')).toBe('no-cache, no-transform');
    expect(events.headers.get('X-Accel-Buffering')).toBe('no');
    expect(events.headers.get('Content-Encoding')).toBeNull();
    await untilComment(events);
    expect(events.frames.length).toBe(1);
    events.close();
  });
});
