import type { Config } from '../config/config.ts';
import { ReadPlane } from '../evaluation/read-plane.ts';
import { evaluationRoutes } from '../evaluation/routes.ts';
import { evaluationContext } from '../evaluation/serving/context.ts';
import { createDashboard, loadBuiltAssets } from '../http/dashboard/dashboard.ts';
import { createDocs } from '../http/docs/docs.ts';
import { Listeners } from '../http/listeners.ts';
import { guardMetrics } from '../http/monitoring.ts';
import { adminTokenIn } from '../management/first-start/admin-token.ts';
import { newAccessToken } from '../management/people/access-tokens.ts';
import { createLogger } from '../observability/log.ts';
import { Metrics } from '../observability/metrics.ts';
import { LazyDatabase } from '../storage/database.ts';
import { logSourceOf } from '../storage/log.ts';
import { type Migrated, openDatabase } from '../storage/schema.ts';
import { VERSION } from '../version.ts';
import { type PreparedStart, prepareFirstStart, warnUnprepared } from './first-start.ts';
import { ManagementPlane, RANDOM } from './management-plane.ts';
import type { NodeOptions, RunningNode } from './running-node.ts';
import { shutDown } from './shutdown.ts';

/**
 * Starts a node with both planes over one database: what `halyard serve` runs. Resolves once flags are served, or
 * once the database turned out to be out of reach for now; rejects when the node cannot start at all.
 */
export async function startNode(config: Config, options: NodeOptions = {}): Promise<RunningNode> {
  const log = createLogger({ level: config.logLevel, format: config.logFormat });
  const adminToken = config.adminToken ?? adminTokenIn(config.data, () => newAccessToken(RANDOM));
  const listeners = new Listeners(config);
  const { url, managementUrl = url } = listeners;
  const dashboardUrl = config.publicUrl ?? managementUrl;
  const docsUrl = config.docsUrl ?? `${url}/docs`;

  const onMigrated = (migrated: Migrated) => log.info(migrated, 'database schema migrated');
  const database = new LazyDatabase(() => openDatabase({ ...config, onMigrated }));
  const plane = new ReadPlane({ ...config, source: logSourceOf(database), log });
  const management = new ManagementPlane({
    config,
    log,
    database,
    plane,
    adminToken,
    docsUrl,
    dashboardUrl,
    evaluationUrl: managementUrl === url ? undefined : url,
    onReceiptsDropped: (count) => metrics.receiptsDropped(count),
  });
  const metrics = new Metrics({ plane, screens: management.activity });
  plane.observe(metrics);
  plane.observe(management.activity);

  listeners.serve({
    evaluation: evaluationRoutes(evaluationContext(plane, { ...config, docsUrl, log })),
    freshness: plane.freshness,
    scrape: guardMetrics(config.metricsToken, () => metrics.scrape()),
    docs: createDocs({ docsUrl, log, openApi: () => management.app.openApi() }),
    management: [management.app.answer, createDashboard({ load: loadBuiltAssets, docsUrl, log })],
    docsUrl,
    log,
  });

  const closed = Promise.withResolvers<void>();
  let stopping: Promise<void> | undefined;
  let prepared: PreparedStart = { needsOperator: false };
  const node: RunningNode = {
    url,
    managementUrl,
    dashboardUrl,
    closed: closed.promise,
    isReady: () => plane.follower.isLive,
    prepared: () => prepared,
    stop: () => {
      stopping ??= stop().then(closed.resolve);
      return stopping;
    },
  };
  plane.start();
  management.start();
  try {
    const isLive = await plane.firstAttempt;
    log.info({ url, managementUrl, version: VERSION, ready: isLive }, 'listening');
    if (isLive) await prepare();
    else void prepareLater();
  } catch (error) {
    await node.stop();
    throw error;
  }
  return node;

  async function prepare(): Promise<void> {
    const { people } = management;
    prepared = await prepareFirstStart({ config, people, log, port: listeners.port, isReady: node.isReady });
  }

  /** A short outage at the first start must not skip the preparation. */
  async function prepareLater(): Promise<void> {
    await plane.firstLive;
    await prepare().catch((error: unknown) => warnUnprepared(log, error));
    options.onLateStart?.(node);
  }

  async function stop(): Promise<void> {
    const drainMs = config.drainSeconds * 1000;
    log.info({ streams: plane.hub.size, drainSeconds: config.drainSeconds }, 'draining');
    await shutDown(log, [
      { name: 'drain', run: () => Promise.all([plane.drain(drainMs), listeners.drain(drainMs)]) },
      management.closeActivity,
      { name: 'close the listeners', run: () => listeners.close() },
      management.closeSchedules,
      { name: 'stop following the log', run: () => plane.close() },
      management.closeHousekeeping,
      { name: 'close the database', run: () => database.close() },
    ]);
    log.info('stopped');
  }
}
