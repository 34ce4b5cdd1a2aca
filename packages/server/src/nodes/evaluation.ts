import type { Logger } from 'pino';
import type { LogSource } from '../domain/change-log.ts';
import { ReadPlane, type ReadPlaneSettings } from '../evaluation/read-plane.ts';
import { evaluationRoutes } from '../evaluation/routes.ts';
import { type EvaluationSettings, evaluationContext } from '../evaluation/serving/context.ts';
import { createDocs } from '../http/docs/docs.ts';
import { Listeners, type ListenersOptions } from '../http/listeners.ts';
import { guardMetrics, healthRoutes } from '../http/monitoring.ts';
import { Metrics } from '../observability/metrics.ts';
import type { RunningNode } from './running-node.ts';
import { shutDown } from './shutdown.ts';

/** Settings of a node that only serves reads. */
export interface EvaluationNodeConfig extends ReadPlaneSettings, EvaluationSettings, ListenersOptions {
  /** Absent: the node's own `/docs`. */
  readonly docsUrl?: string;
  readonly metricsToken?: string;
  readonly drainSeconds: number;
}

/**
 * Starts a node with the read plane alone: `/v1`, health, metrics and documentation from a log, with no database and
 * no management of its own. Resolves once the first attempt to follow the log has succeeded or failed.
 */
export async function startEvaluationNode(
  source: LogSource,
  config: EvaluationNodeConfig,
  log: Logger,
): Promise<Pick<RunningNode, 'url' | 'stop'>> {
  const plane = new ReadPlane({ ...config, source, log });
  const metrics = new Metrics({ plane });
  plane.observe(metrics);
  const listeners = new Listeners(config);
  const docsUrl = config.docsUrl ?? `${listeners.url}/docs`;
  listeners.serve({
    evaluation: evaluationRoutes(evaluationContext(plane, { ...config, docsUrl, log })),
    health: healthRoutes(plane.freshness),
    scrape: guardMetrics(config.metricsToken, () => metrics.scrape()),
    docs: createDocs({ docsUrl, log }),
    docsUrl,
    log,
  });
  plane.start();
  await plane.firstAttempt;
  const drainMs = config.drainSeconds * 1000;
  const stop = () =>
    shutDown(log, [
      { name: 'drain', run: () => Promise.all([plane.drain(drainMs), listeners.drain(drainMs)]) },
      { name: 'close the listeners', run: () => listeners.close() },
      { name: 'stop following the log', run: () => plane.close() },
    ]);
  return { url: listeners.url, stop };
}
