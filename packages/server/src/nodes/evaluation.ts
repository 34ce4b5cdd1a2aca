import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { LogSource } from '../domain/change-log.ts';
import type { LastKnown, LastKnownPlace } from '../evaluation/last-known/last-known-file.ts';
import { LastKnownWriter } from '../evaluation/last-known/last-known-writer.ts';
import { LogServer, type LogServerOptions } from '../evaluation/log/log-server.ts';
import { ReportSender } from '../evaluation/log/report-sender.ts';
import type { ReportBody } from '../evaluation/log/reports.ts';
import type { Upstreams } from '../evaluation/log/upstreams.ts';
import { ReadPlane, type ReadPlaneSettings } from '../evaluation/read-plane.ts';
import { evaluationRoutes } from '../evaluation/routes.ts';
import { type EvaluationSettings, evaluationContext } from '../evaluation/serving/context.ts';
import { createDocs } from '../http/docs/docs.ts';
import { type ListenerParts, Listeners, type ListenersOptions } from '../http/listeners.ts';
import { guardMetrics, healthRoutes } from '../http/monitoring.ts';
import { Metrics } from '../observability/metrics.ts';
import { newNodeName, type RunningNode } from './running-node.ts';
import { shutDown } from './shutdown.ts';
import { CURRENT_WITHIN_MS } from './start-from-last-known.ts';
import { placeOfWorkers, Workers, type WorkersParts } from './workers.ts';

/** Settings of a node that only serves reads. */
export interface EvaluationNodeConfig extends ReadPlaneSettings, EvaluationSettings, ListenersOptions {
  /** Absent: the node's own `/docs`. */
  readonly docsUrl?: string;
  readonly metricsToken?: string;
  readonly drainSeconds: number;
  /** Which processes serve reads; absent: this one. */
  readonly fleet?: WorkersParts['config'] & Pick<Config, 'reusePort'>;
  /** Where to keep the last known flags, and those that were found there. */
  readonly lastKnown?: { readonly place: LastKnownPlace; readonly found: LastKnown | undefined };
  /** Sends a report to the upstream of `source`. */
  readonly report?: (body: ReportBody) => Promise<void>;
  /** The addresses at which `source` follows the log, and the one that it follows. */
  readonly upstreams?: Pick<Upstreams, 'states' | 'followed'>;
}

/** A node that only serves reads. */
export interface EvaluationNode extends Pick<RunningNode, 'url' | 'isReady' | 'stop'> {
  readonly plane: ReadPlane;
  readonly logServer: LogServer;
}

/**
 * Starts a node with the read plane alone: `/v1`, health, metrics and documentation from a log, which it offers to
 * others, with no database and no management of its own. Resolves once the first attempt to follow the log has succeeded or failed.
 */
export async function startEvaluationNode(
  source: LogSource,
  config: EvaluationNodeConfig,
  log: Logger,
): Promise<EvaluationNode> {
  const inside = config.fleet && (await placeOfWorkers(config.fleet));
  const listeners = new Listeners({ ...config, ...inside });
  const docsUrl = config.docsUrl ?? `${listeners.url}/docs`;

  const plane = new ReadPlane({ ...config, source, log });
  const { upstreams, report } = config;
  const { place, found } = config.lastKnown ?? {};
  const workers =
    config.fleet &&
    inside &&
    new Workers({
      config: config.fleet,
      place: inside,
      plane,
      docsUrl,
      lastKnown: place,
      log,
    });
  const readers = workers?.readers ?? plane;

  const onReport: LogServerOptions['onReport'] = async (from, dropped) => reports?.take(from, dropped);
  const logServer = new LogServer({ plane, docsUrl, log, onReport });
  const reports =
    report &&
    new ReportSender({
      node: newNodeName(),
      streams: readers.streams,
      send: report,
      usage: plane.usage,
      takeContacts: () => logServer.takeContacts(),
    });

  const metrics = new Metrics({ plane, logServer, upstreams });
  plane.observe(logServer);
  readers.observe(metrics);
  if (reports) readers.observe(reports);

  const freshness = workers?.fleet.freshness(plane.freshness) ?? plane.freshness;
  // Workers serve these routes themselves.
  const reads = workers ? {} : evaluationRoutes(evaluationContext(plane, { ...config, docsUrl, log }));
  const parts: ListenerParts = {
    files: plane.files,
    evaluation: { ...reads, ...logServer.routes },
    health: healthRoutes(freshness, { upstream: () => upstreams?.followed }),
    scrape: guardMetrics(config.metricsToken, async () => metrics.scrape(await workers?.metrics())),
    docs: createDocs({ docsUrl, log }),
    docsUrl,
    log,
    ...(workers && { inner: workers.routes }),
  };

  const writer = place && new LastKnownWriter({ place, plane, log });
  if (writer) plane.observe(writer);
  plane.start(found && { ...found, continues: true });

  const drainMs = config.drainSeconds * 1000;
  const draining = [plane, logServer, listeners, workers?.fleet];
  const stop = () =>
    shutDown(log, [
      { name: 'drain', run: () => Promise.all(draining.map((part) => part?.drain(drainMs))) },
      { name: 'send the last report', kind: 'brief', run: () => reports?.close() },
      { name: 'end workers and followers', run: () => Promise.all([workers?.close(), logServer.close()]) },
      { name: 'close the listeners', run: () => listeners.close() },
      { name: 'keep the last known flags', kind: 'brief', run: () => writer?.close() },
      { name: 'stop following the log', run: () => plane.close() },
    ]);

  try {
    await plane.attempted(CURRENT_WITHIN_MS);
    listeners.serve(parts);
    await workers?.fleet.start();
    await plane.firstAttempt;
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: listeners.url, plane, logServer, isReady: () => plane.freshness.isCurrent, stop };
}
