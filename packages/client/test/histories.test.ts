import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { harness, RECOVERY_MS } from './support/harness.ts';
import { blackHole, errorAnswer, refuse, type SeenRequest } from './support/scripted-server.ts';

type Failure = (request: SeenRequest) => Response | Promise<Response>;

const busy = (seconds: number) => () =>
  new Response('busy', { status: 503, headers: { 'Retry-After': String(seconds) } });

/** What one of the two paths may do for a while. */
const FAILURES: Readonly<Record<string, Failure>> = {
  refuse,
  blackHole,
  unknown: () => errorAnswer(404, 'not_found'),
  broken: () => errorAnswer(500, 'internal_error'),
  limited: () => errorAnswer(429, 'rate_limited', { 'Retry-After': '5' }),
  'busy for 10 s': busy(10),
  'busy for an hour': busy(3_600),
};

/** A part of a history: how the paths behave, whether open streams break, and for how long. */
const phase = (failures: readonly string[]) =>
  fc.record({
    failure: fc.constantFrom('healthy', ...failures),
    breaks: fc.boolean(),
    seconds: fc.integer({ min: 1, max: 90 }),
  });

describe('whatever one path does, the other keeps the flags new', () => {
  test.each([
    ['the stream fails', 'onStream', Object.keys(FAILURES)],
    ['REST fails', 'onRest', Object.keys(FAILURES)],
  ] as const)(
    'when only %s',
    async (_, path, failures) => {
      const histories = fc.array(phase(failures), { minLength: 1, maxLength: 5 });
      await fc.assert(
        fc.asyncProperty(histories, async (history) => {
          const { client, server, platform } = harness();
          void client.ready();
          for (const { failure, breaks, seconds } of history) {
            server.heal();
            const fail = FAILURES[failure];
            if (fail) server[path] = fail;
            if (breaks) for (const stream of server.streams) stream.break();
            await platform.advance(seconds * 1_000);
            const value = (server.revision ?? 0) + 1;
            server.change({ a: { enabled: true, value } });
            // Keep-alives, as from a node that works.
            for (const stream of server.streams) if (!stream.isCancelled) stream.text(':\n\n');
            await platform.advanceUntil(() => client.getValue('a', 0) === value, RECOVERY_MS);
          }
          await client.close();
          expect(platform.pending).toBe(0);
        }),
        { numRuns: 25 },
      );
    },
    60_000,
  );
});
