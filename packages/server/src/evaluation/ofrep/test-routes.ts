import { afterAll } from 'bun:test';
import pino from 'pino';
import { digestOf } from '../../domain/secret.ts';
import { OpenFiles } from '../../http/open-files.ts';
import { Catalog } from '../catalog/catalog.ts';
import { evaluationRoutes } from '../routes.ts';
import { type EvaluationSettings, evaluationContext } from '../serving/context.ts';
import { EvaluationCounters } from '../serving/counters.ts';
import { Hub } from '../streaming/hub.ts';
import { UsageTally } from '../usage/usage-tally.ts';

const closers: (() => void)[] = [];
afterAll(() => {
  for (const close of closers) close();
});

/** The routes of a read plane with one environment, `production`, and one key, `key`; its freshness is the test's. */
export function openTestRoutes(settings: EvaluationSettings = {}) {
  const hub = new Hub({ maxQueuedBytes: 2 ** 20 });
  const catalog = new Catalog({
    changed: (environment, row, difference) => hub.broadcast(environment, row, difference),
    environmentGone: (id) => hub.closeEnvironment(id),
    keyGone: (id) => hub.closeKey(id),
    malformed: () => {},
  });

  catalog.load({
    projects: [{ id: 'p', name: 'shop' }],
    environments: [{ id: 'e', projectId: 'p', name: 'production', revision: 7 }],
    states: [],
    keys: [
      {
        id: 'k',
        projectId: 'p',
        digest: digestOf('key'),
        environments: '["production"]',
        expiresAt: null,
        revokedAt: null,
      },
    ],
    relays: [],
  });

  const state = {
    canRead: true,
    canStream: true,
    mayLackRecords: false,
    staleSeconds: undefined as number | undefined,
  };

  const freshness = {
    canRead: () => state.canRead,
    canStream: () => state.canStream,
    staleSeconds: () => state.staleSeconds,
    mayLackRecords: () => state.mayLackRecords,
    trouble: () => undefined,
  };

  const counters = new EvaluationCounters();
  const log = pino({ level: 'silent' });
  const files = new OpenFiles(log);
  const usage = new UsageTally(catalog);

  // A read plane: the context uses no other part of it.
  const plane = { catalog, hub, freshness, counters, files, usage } as unknown as Parameters<
    typeof evaluationContext
  >[0];
  const context = evaluationContext(plane, { docsUrl: 'https://docs.example', log, ...settings });
  const key = catalog.keys.authenticate('key');
  const environment = catalog.environment('p', 'production');
  if (key === undefined || environment === undefined) throw new Error('the catalog was loaded');
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', routes: evaluationRoutes(context) });
  closers.push(() => {
    hub.close();
    catalog.close();
    files.close();
    void server.stop(true);
  });

  return { url: server.url.origin, context, catalog, hub, counters, state, key, environment };
}
