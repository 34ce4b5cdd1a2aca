import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { type WorkerConfig, workerConfigIn } from '../config/worker-config.ts';
import { isSameSecret } from '../domain/secret.ts';
import type { LastKnownPlace } from '../evaluation/last-known/last-known-file.ts';
import { LogServer } from '../evaluation/log/log-server.ts';
import { WHOLE_LOG } from '../evaluation/log/scope.ts';
import type { ReadPlane } from '../evaluation/read-plane.ts';
import { INNER_PATH, type InnerAddress, newInnerAddress } from '../http/forwarding.ts';
import type { Routes } from '../http/listener.ts';
import { Listeners } from '../http/listeners.ts';
import { addReports, type MetricsReport, totalsIn } from '../observability/metrics.ts';
import { Fleet } from '../workers/fleet.ts';
import { Readers } from '../workers/readers.ts';
import type { WorkerSettings } from './worker.ts';

/** Where the workers of a node listen, and where they reach their supervisor. */
export interface WorkerPlace {
  readonly port: number;
  readonly inner: InnerAddress;
}

/**
 * Checks that the port is free, as a single process would find out, and chooses one for port 0. Several processes that
 * share a port would not notice another node on it. `undefined` for one process. Throws a `ListenError`.
 */
export async function placeOfWorkers(
  config: Pick<Config, 'workers' | 'host' | 'port' | 'reusePort'>,
): Promise<WorkerPlace | undefined> {
  if (config.workers === 1) return undefined;
  if (process.platform !== 'linux') {
    throw new Error('Several workers need Linux, where processes can share a port: leave out --workers.');
  }
  const { host, port, reusePort } = config;
  const probe = new Listeners({ host, port, reusePort });
  await probe.close();
  return { port: probe.port, inner: newInnerAddress() };
}

/** Parts of {@link Workers}. */
export interface WorkersParts {
  readonly config: WorkerConfig & Pick<Config, 'workers'>;
  readonly place: WorkerPlace;
  readonly plane: ReadPlane;
  readonly docsUrl: string;
  /** Where this node keeps its last known flags, if it does: workers start from them too. */
  readonly lastKnown: LastKnownPlace | undefined;
  readonly log: Logger;
}

/** The worker processes of a node: their log, what they add up to, and their processes. */
export class Workers {
  readonly readers: Readers;
  readonly fleet: Fleet;
  readonly #log: LogServer;
  /** What the workers that have ended add to the totals. */
  #ended: Promise<MetricsReport> = Promise.resolve([]);

  constructor({ config, place: { port, inner }, plane, docsUrl, lastKnown, log }: WorkersParts) {
    this.readers = new Readers(plane);

    const bearer = `Bearer ${inner.token}`;
    this.#log = new LogServer({
      plane,
      authorize: ({ headers }) =>
        isSameSecret(headers.get('Authorization') ?? '', bearer)
          ? { id: 'worker', scope: WHOLE_LOG }
          : undefined,
      docsUrl,
      log,
    });

    plane.observe(this.#log);
    plane.observe(this.readers.own);
    plane.observe({ live: () => this.fleet.retry() });

    const settings = {
      inner,
      config: { ...workerConfigIn(config), port },
      docsUrl,
      ...(lastKnown && { lastKnown }),
    };

    this.fleet = new Fleet({
      size: config.workers,
      readers: this.readers,
      own: { isLive: () => plane.freshness.isCurrent, seq: () => plane.follower.seq },
      settingsOf: (number): WorkerSettings => ({ ...settings, number }),
      sharesLimits: config.rateLimit !== undefined || config.maxStreamsPerKey !== undefined,
      log,
      onUsage: (usage) => {
        for (const each of usage) plane.usage.add(each);
      },
      onEnded: (metrics) => {
        this.#ended = this.#ended.then((sum) => addReports([sum, totalsIn(metrics)]));
      },
    });
  }

  /** The routes that workers ask for themselves: their log, apart from the one that the node offers to relays. */
  get routes(): Routes {
    const routes = Object.entries(this.#log.routes);
    return Object.fromEntries(routes.map(([path, answer]) => [`${INNER_PATH}${path}`, answer]));
  }

  /** The metrics of all workers, also of those that have ended. */
  async metrics(): Promise<readonly MetricsReport[]> {
    return [...(await this.fleet.metrics()), await this.#ended];
  }

  /** Ends all workers. Safe to call twice. */
  async close(): Promise<void> {
    await this.fleet.close();
    this.#log.close();
  }
}
