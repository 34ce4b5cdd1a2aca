import { adminTokenIn } from '../app/admin-token.ts';
import type { Config } from '../config/config.ts';
import { LogServer, type LogServerOptions } from '../evaluation/log/log-server.ts';
import { ReadPlane } from '../evaluation/read-plane.ts';
import { evaluationRoutes } from '../evaluation/routes.ts';
import { evaluationContext } from '../evaluation/serving/context.ts';
import { createDashboard, loadBuiltAssets } from '../http/dashboard/dashboard.ts';
import { createDocs } from '../http/docs/docs.ts';
import { type ListenerParts, Listeners } from '../http/listeners.ts';
import { guardMetrics, healthRoutes } from '../http/monitoring.ts';
import { newAccessToken } from '../nouns/access-tokens/access-tokens.ts';
import { createLogger } from '../observability/logger.ts';
import { Metrics } from '../observability/metrics.ts';
import { VERSION } from '../version.ts';
import { databasesOf } from './databases.ts';
import { Preparation } from './first-start.ts';
import { ManagementPlane, RANDOM } from './management-plane.ts';
import { mcpEndpoint } from './mcp-endpoint.ts';
import { type NodeOptions, type RunningNode, stoppable } from './running-node.ts';
import { shutDown } from './shutdown.ts';
import { CURRENT_WITHIN_MS, lastKnownOf, startFromLastKnown } from './start-from-last-known.ts';
import { placeOfWorkers, Workers } from './workers.ts';

/** Nodes on one database know the access tokens in it, and each its own administration token. */
const OWN_ADMIN_TOKEN =
  'the administration token in the data folder is valid at this node only: ' +
  'set HALYARD_ADMIN_TOKEN_FILE to the same token on every node';

/**
 * Starts a node with both planes over one database: what `halyard serve` runs. Resolves once flags are served, or
 * once the database turned out to be unreachable for now; rejects when the node cannot start at all.
 */
export async function startNode(config: Config, options: NodeOptions = {}): Promise<RunningNode> {
  const log = createLogger({ level: config.logLevel, format: config.logFormat });
  const adminToken = config.adminToken ?? adminTokenIn(config.data, () => newAccessToken(RANDOM));

  // The addresses are checked first: a second node there must end before it opens the database.
  const place = await placeOfWorkers(config);
  const listeners = new Listeners({ ...config, ...place });
  const { url, managementUrl = url, port } = listeners;
  const dashboardUrl = config.publicUrl ?? managementUrl;
  const docsUrl = config.docsUrl ?? `${url}/docs`;

  const { database, source, ...databases } = databasesOf(config, log);
  const plane = new ReadPlane({ ...config, source, log });
  const lastKnown = lastKnownOf(config);
  const workers = place && new Workers({ config, place, plane, docsUrl, lastKnown, log });
  const readers = workers?.readers ?? plane;

  const onReport: LogServerOptions['onReport'] = (report, dropped) => {
    // Followers report once the node listens, when both of these exist.
    metrics.receiptsDropped(dropped);
    return management.activity.take(report);
  };
  const logServer = new LogServer({ plane, docsUrl, log, onReport });

  const management = new ManagementPlane({
    config,
    log,
    database,
    plane,
    readers,
    logServer,
    adminToken,
    docsUrl,
    dashboardUrl,
    evaluationUrl: managementUrl === url ? undefined : url,
    onReceiptsDropped: (count) => metrics.receiptsDropped(count),
  });

  const metrics = new Metrics({
    plane,
    logServer,
    screens: management.activity,
    webhooks: management.webhooks,
    publishing: management.publishing,
  });

  plane.observe(logServer);
  plane.observe(management.webhooks);
  plane.observe(management.chain);
  if (management.publishing !== undefined) plane.observe(management.publishing);
  readers.observe(metrics);
  readers.observe(management.activity);

  const freshness = workers?.fleet.freshness(plane.freshness) ?? plane.freshness;
  // Workers serve these routes themselves.
  const reads = workers ? {} : evaluationRoutes(evaluationContext(plane, { ...config, docsUrl, log }));
  const { mcp, trustProxy } = config;
  const api = management.app.answer;
  const agents =
    mcp === undefined
      ? []
      : [mcpEndpoint({ mode: mcp, api, publicUrl: dashboardUrl, trustProxy, docsUrl, log })];
  const parts: ListenerParts = {
    files: plane.files,
    evaluation: { ...reads, ...logServer.routes },
    health: healthRoutes(freshness, {
      warnings: () => [writeWarning(databases.writeRefusal()), management.publishing?.trouble()],
    }),
    scrape: guardMetrics(config.metricsToken, async () => metrics.scrape(await workers?.metrics())),
    docs: createDocs({ docsUrl, log, openApi: () => management.app.openApi() }),
    management: [management.app.answer, ...agents, createDashboard({ load: loadBuiltAssets, docsUrl, log })],
    docsUrl,
    log,
    ...(workers && { inner: workers.routes }),
  };

  const isReady = () => plane.freshness.isCurrent;
  const preparation = new Preparation({ config, people: management.people, log, port, isReady });
  const node: RunningNode = {
    url,
    managementUrl,
    dashboardUrl,
    isReady,
    prepared: () => preparation.result,
    ...stoppable(stop),
  };

  const keepLastKnown = await startFromLastKnown(plane, lastKnown, log);
  management.start();
  try {
    // Listening waits until this node is current, so that readers get nothing older than before, but not for long. (Spec: S14.9)
    await plane.attempted(CURRENT_WITHIN_MS);
    listeners.serve(parts);
    await workers?.fleet.start();

    const isLive = await plane.firstAttempt;
    log.info({ url, managementUrl, version: VERSION, ready: isLive }, 'listening');
    if (config.databaseUrl !== undefined && config.adminToken === undefined) log.info(OWN_ADMIN_TOKEN);

    if (isLive) await preparation.run();
    else void plane.firstLive.then(() => preparation.runLate()).then(() => options.onLateStart?.(node));
  } catch (error) {
    await node.stop();
    throw error;
  }

  return node;

  async function stop(): Promise<void> {
    const drainMs = config.drainSeconds * 1000;
    const draining = [plane, listeners, logServer, workers?.fleet];
    log.info({ streams: readers.streams.size, drainSeconds: config.drainSeconds }, 'draining');

    // Readers first; then what serves them; the database, which all of it uses, last.
    await shutDown(log, [
      { name: 'drain', run: () => Promise.all(draining.map((part) => part?.drain(drainMs))) },
      management.closeActivity,
      { name: 'end workers and followers', run: () => Promise.all([workers?.close(), logServer.close()]) },
      { name: 'close the listeners', run: () => listeners.close() },
      management.closeThread,
      management.closeSchedules,
      management.closeWebhooks,
      management.closePublishing,
      management.closeChain,
      keepLastKnown,
      { name: 'stop following the log', run: () => plane.close() },
      management.closeHousekeeping,
      { name: 'close the database', run: databases.close },
    ]);
    log.info('stopped');
  }
}

function writeWarning(reason: string | undefined): string | undefined {
  return reason === undefined ? undefined : `The database takes no changes: ${reason}.`;
}
