import { expect, test } from 'bun:test';
import { parseConfig } from '../config/config.ts';
import { workerConfigIn } from '../config/worker-config.ts';
import type { LogSource } from '../domain/change-log.ts';
import { closeAtEnd, openStore, openUpstream } from '../evaluation/log/test-upstream.ts';
import { INNER_PATH, newInnerAddress } from '../http/forwarding.ts';
import { logSourceOf } from '../storage/change-log.ts';
import type { FromWorker, ToWorker } from '../workers/messages.ts';
import { CURRENT_WITHIN_MS } from './start-from-last-known.ts';
import { runWorker, type WorkerSettings } from './worker.ts';

/** Older than a proof may be that makes a process current at once. */
const PROOF_AGE_MS = 1200;

test('a worker whose first proof is old when it comes does not offer to serve before it is current', async () => {
  const home = await openStore();
  const { logServer } = await openUpstream(home, {}, lateProofs(logSourceOf(await home.connect())));
  const inner = newInnerAddress();
  const supervisor = Bun.serve({
    unix: inner.socket,
    fetch: (request, server) => {
      const { pathname } = new URL(request.url);
      const answer = logServer.routes[pathname.slice(INNER_PATH.length)];
      return answer?.(request as Bun.BunRequest, server) ?? new Response(null, { status: 404 });
    },
  });
  closeAtEnd(() => supervisor.stop(true));

  const config = { ...workerConfigIn(parseConfig({ flags: {}, env: {} })), logLevel: 'silent' as const };
  const begunAt = performance.now();
  const { isLive } = await offerOf({ number: 1, inner, config, docsUrl: 'https://docs.example' });
  // On a busy machine it may take longer than it waits for this.
  const isLate = performance.now() - begunAt > CURRENT_WITHIN_MS;
  expect(isLate || isLive).toBe(true);
});

/** The source, which proves each time what was so some time ago. */
function lateProofs(source: LogSource): LogSource {
  return {
    ...source,
    open: async (...parameters) => {
      const session = await source.open(...parameters);
      const head = session.head.bind(session);
      session.head = async (seq) => ({ ...(await head(seq)), provenAt: performance.now() - PROOF_AGE_MS });
      return session;
    },
  };
}

/** Runs a worker in this process until it offers to serve; it ends with the test. */
async function offerOf(settings: WorkerSettings): Promise<FromWorker & { readonly kind: 'ready' }> {
  const offer = Promise.withResolvers<FromWorker & { readonly kind: 'ready' }>();
  const listening = Promise.withResolvers<void>();
  let tell: (message: ToWorker) => void = () => undefined;
  const running = runWorker({
    send: (message) => {
      if (message.kind === 'ready') offer.resolve(message);
      if (message.kind === 'listening') listening.resolve();
    },
    onMessage: (listener) => {
      tell = listener;
    },
    onLost: () => undefined,
    close: () => undefined,
  });

  tell({ kind: 'start', settings });
  closeAtEnd(async () => {
    tell({ kind: 'listen', seq: 0 });
    await listening.promise;
    tell({ kind: 'stop' });
    await running;
  });
  return offer.promise;
}
