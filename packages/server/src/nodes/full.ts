import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { ReadPlane } from '../evaluation/read-plane.ts';
import { evaluationContext } from '../evaluation/v1/context.ts';
import { evaluationRoutes } from '../evaluation/v1/routes.ts';
import { loadBuiltAssets } from '../http/dashboard/built-assets.ts';
import { createDashboard } from '../http/dashboard/dashboard.ts';
import { createDocs } from '../http/docs/docs.ts';
import { Listeners } from '../http/listeners.ts';
import { guardMetrics } from '../http/metrics-access.ts';
import { adminTokenIn } from '../management/first-start/admin-token.ts';
import type { FirstStart } from '../management/first-start/demo.ts';
import { newAccessToken } from '../management/people/access-tokens.ts';
import { createLogger } from '../observability/log.ts';
import { Metrics } from '../observability/metrics.ts';
import { DatabaseOpener } from '../storage/database-opener.ts';
import { databaseLog } from '../storage/log-source.ts';
import { VERSION } from '../version.ts';
import { prepareFirstStart, warnUnprepared } from './first-start.ts';
import { ManagementPlane } from './management-plane.ts';
import type { NodeOptions, RunningNode } from './running-node.ts';
import { shutDown } from './shutdown.ts';

/**
 * Builds a full node, listens, and follows the log. Resolves once flags are served, or once the database turned out
 * to be out of reach for now; rejects when the node cannot start at all.
 */
export async function startNode(config: Config, options: NodeOptions = {}): Promise<RunningNode> {
  const node = new FullNode(config, createLogger({ level: config.logLevel, format: config.logFormat }));
  try {
    await node.start(options);
  } catch (error) {
    await node.stop();
    throw error;
  }
  return node;
}

/** A node with both planes over one database: what `halyard serve` runs. */
class FullNode implements RunningNode {
  readonly #config: Config;
  readonly #log: Logger;
  readonly #opener: DatabaseOpener;
  readonly #plane: ReadPlane;
  readonly #management: ManagementPlane;
  readonly #metrics: Metrics;
  readonly #closed = Promise.withResolvers<void>();
  readonly closed = this.#closed.promise;
  #listeners: Listeners | undefined;
  #stopping: Promise<void> | undefined;
  firstStart?: FirstStart;
  needsOperator = false;
  setupLink?: string;

  constructor(config: Config, log: Logger) {
    this.#config = config;
    this.#log = log;
    this.#opener = new DatabaseOpener(config);
    this.#plane = new ReadPlane({ ...config, source: databaseLog(this.#opener), log });
    this.#management = new ManagementPlane({
      config,
      log,
      opener: this.#opener,
      plane: this.#plane,
      addresses: () => this,
      onReceiptsDropped: (count) => this.#metrics.receiptsDropped(count),
    });
    this.#metrics = new Metrics({ plane: this.#plane, screens: this.#management.activity });
    this.#plane.observe(this.#metrics);
    this.#plane.observe(this.#management.activity);
  }

  get isReady(): boolean {
    return this.#plane.follower.isLive;
  }

  get url(): string {
    return this.#listeners?.url ?? '';
  }

  get managementUrl(): string {
    return this.#listeners?.managementUrl ?? this.url;
  }

  get dashboardUrl(): string {
    return this.#config.publicUrl ?? this.managementUrl;
  }

  get evaluationUrl(): string | undefined {
    return this.#listeners?.managementUrl === undefined ? undefined : this.url;
  }

  async start(options: NodeOptions): Promise<void> {
    const newToken = () => newAccessToken(this.#management.context);
    const adminToken = this.#config.adminToken ?? adminTokenIn(this.#config.data, newToken);
    this.#listeners = new Listeners(this.#config);
    this.#serve(this.#listeners, adminToken);
    this.#plane.start();
    this.#management.start();
    const isLive = await this.#plane.firstAttempt;
    const { url, managementUrl } = this.#listeners;
    this.#log.info({ url, managementUrl, version: VERSION, ready: isLive }, 'listening');
    if (isLive) await this.#prepare();
    else void this.#prepareLater(options);
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  #serve(listeners: Listeners, adminToken: string): void {
    const [config, log, plane] = [this.#config, this.#log, this.#plane];
    const docsUrl = config.docsUrl ?? `${listeners.url}/docs`;
    const app = this.#management.app(adminToken, docsUrl);
    listeners.serve({
      evaluation: evaluationRoutes(evaluationContext(plane, { ...config, docsUrl, log })),
      freshness: plane.freshness,
      scrape: guardMetrics(config.metricsToken, () => this.#metrics.scrape()),
      docs: createDocs({ docsUrl, log, openApi: () => app.openApi() }),
      management: [app.answer, createDashboard({ load: loadBuiltAssets, docsUrl, log })],
      docsUrl,
      log,
    });
  }

  async #prepare(): Promise<void> {
    const { people } = this.#management;
    const isLive = () => this.#plane.follower.isLive;
    const parts = { config: this.#config, people, log: this.#log, port: this.#listeners?.port, isLive };
    Object.assign(this, await prepareFirstStart(parts));
  }

  /** A short outage at the first start must not skip the preparation. */
  async #prepareLater(options: NodeOptions): Promise<void> {
    await this.#plane.firstLive;
    await this.#prepare().catch((error: unknown) => warnUnprepared(this.#log, error));
    options.onLateStart?.(this);
  }

  async #stop(): Promise<void> {
    const drainMs = this.#config.drainSeconds * 1000;
    const { closeActivity, closeSchedules, closeHousekeeping } = this.#management;
    if (this.#listeners !== undefined) {
      this.#log.info({ streams: this.#plane.hub.size, drainSeconds: drainMs / 1000 }, 'draining');
    }
    const drain = () => Promise.all([this.#plane.drain(drainMs), this.#listeners?.answerLast(drainMs)]);
    await shutDown(
      [
        { name: 'drain', run: drain },
        closeActivity,
        { name: 'close the listeners', run: () => this.#listeners?.close() },
        closeSchedules,
        { name: 'stop following the log', run: () => this.#plane.close() },
        closeHousekeeping,
        { name: 'close the database', run: () => this.#opener.close() },
      ],
      this.#log,
    );
    this.#log.info('stopped');
    this.#closed.resolve();
  }
}
