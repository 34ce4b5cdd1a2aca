import type { Logger } from 'pino';
import type { LogSource } from '../domain/change-log.ts';
import type { LastKnown, LastKnownPlace } from '../evaluation/last-known/last-known-file.ts';
import { LastKnownWriter } from '../evaluation/last-known/last-known-writer.ts';
import { LogServer, type LogServerOptions } from '../evaluation/log/log-server.ts';
import { ReportSender } from '../evaluation/log/report-sender.ts';
import type { ReportBody } from '../evaluation/log/reports.ts';
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

/** Settings of a node that only serves reads. */
export interface EvaluationNodeConfig extends ReadPlaneSettings, EvaluationSettings, ListenersOptions {
  /** Absent: the node's own `/docs`. */
  readonly docsUrl?: string;
  readonly metricsToken?: string;
  readonly drainSeconds: number;
  /** Where to keep the last known flags, and those that were found there. */
  readonly lastKnown?: { readonly place: LastKnownPlace; readonly found: LastKnown | undefined };
  /** Sends a report to the upstream of `source`. */
  readonly report?: (body: ReportBody) => Promise<void>;
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
  const plane = new ReadPlane({ ...config, source, log });
  const listeners = new Listeners(config);
  const docsUrl = config.docsUrl ?? `${listeners.url}/docs`;

  const { report } = config;
  const onReport: LogServerOptions['onReport'] = async (from, dropped) => reports?.take(from, dropped);
  const logServer = new LogServer({ plane, docsUrl, log, onReport });
  const reports =
    report &&
    new ReportSender({
      node: newNodeName(),
      streams: plane.streams,
      send: report,
      usage: plane.usage,
      takeContacts: () => logServer.takeContacts(),
    });

  const metrics = new Metrics({ plane, logServer });
  plane.observe(logServer);
  plane.observe(metrics);
  if (reports) plane.observe(reports);

  const parts: ListenerParts = {
    files: plane.files,
    evaluation: {
      ...evaluationRoutes(evaluationContext(plane, { ...config, docsUrl, log })),
      ...logServer.routes,
    },
    health: healthRoutes(plane.freshness),
    scrape: guardMetrics(config.metricsToken, () => metrics.scrape()),
    docs: createDocs({ docsUrl, log }),
    docsUrl,
    log,
  };

  const { place, found } = config.lastKnown ?? {};
  const writer = place && new LastKnownWriter({ place, plane, log });
  if (writer) plane.observe(writer);
  plane.start(found && { ...found, continues: true });

  const drainMs = config.drainSeconds * 1000;
  const drains = () => [plane.drain(drainMs), logServer.drain(drainMs), listeners.drain(drainMs)];
  const stop = () =>
    shutDown(log, [
      { name: 'drain', run: () => Promise.all(drains()) },
      { name: 'send the last report', kind: 'brief', run: () => reports?.close() },
      { name: 'end the streams of followers', run: () => logServer.close() },
      { name: 'close the listeners', run: () => listeners.close() },
      { name: 'keep the last known flags', kind: 'brief', run: () => writer?.close() },
      { name: 'stop following the log', run: () => plane.close() },
    ]);

  try {
    await plane.attempted(CURRENT_WITHIN_MS);
    listeners.serve(parts);
    await plane.firstAttempt;
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: listeners.url, plane, logServer, isReady: () => plane.freshness.isCurrent, stop };
}
