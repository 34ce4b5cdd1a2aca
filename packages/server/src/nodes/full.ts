import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { StoreOutage } from '../domain/store-outage.ts';
import { Catalog } from '../evaluation/catalog/catalog.ts';
import { NodeFreshness } from '../evaluation/freshness.ts';
import { Follower } from '../evaluation/replication/follower.ts';
import { Hub } from '../evaluation/streaming/hub.ts';
import { unavailable } from '../evaluation/v1/access.ts';
import type { EvaluationContext } from '../evaluation/v1/context.ts';
import { EvaluationCounters } from '../evaluation/v1/counters.ts';
import { RateLimiter } from '../evaluation/v1/rate-limiter.ts';
import { loadBuiltAssets } from '../http/dashboard/built-assets.ts';
import { createDashboard } from '../http/dashboard/dashboard.ts';
import { createDocs } from '../http/docs/docs.ts';
import { Listeners } from '../http/listeners.ts';
import { guardMetrics } from '../http/metrics-access.ts';
import { environmentStreams } from '../management/api/environment-stream.ts';
import { LazyManagementApp } from '../management/api/lazy-app.ts';
import type { ManagementContext } from '../management/context.ts';
import { Activity } from '../management/deliveries/activity.ts';
import { newNodeName } from '../management/deliveries/node-name.ts';
import { adminTokenIn } from '../management/first-start/admin-token.ts';
import { createDemo, type FirstStart } from '../management/first-start/demo.ts';
import { prepareFirstOperator } from '../management/first-start/first-operator.ts';
import { Housekeeping } from '../management/first-start/housekeeping.ts';
import { newAccessToken } from '../management/people/access-tokens.ts';
import { offerSetup } from '../management/people/invitations.ts';
import { PasswordHashes } from '../management/people/passwords.ts';
import type { PeopleContext } from '../management/people/people.ts';
import { ScheduleRunner } from '../management/schedules/schedule-runner.ts';
import { createLogger } from '../observability/log.ts';
import { Metrics } from '../observability/metrics.ts';
import { DatabaseOpener, storeOf } from '../storage/database-opener.ts';
import { SqlDeliveryStore } from '../storage/delivery-store.ts';
import { logSourceOf } from '../storage/log-source.ts';
import { StorageError } from '../storage/storage-error.ts';
import { VERSION } from '../version.ts';

/** A node that listens. */
export interface RunningNode {
  /** Where it is reached from this machine. */
  readonly url: string;
  /** Where this machine manages it: another address only where management has a port of its own. */
  readonly managementUrl: string;
  /** Resolves when the node has stopped; rejects when it cannot go on. */
  readonly closed: Promise<void>;
  /** The demo project made on the first start of an empty database. Its key is shown once. */
  readonly firstStart?: FirstStart;
  /** Where people reach the dashboard. */
  readonly dashboardUrl: string;
  /** Whether it has its data and follows every change; not while the database is away. */
  readonly isReady: boolean;
  /** Whether nobody can sign in to the dashboard yet. */
  readonly needsOperator: boolean;
  /** The one-time link for the first administrator, while there is none; shown once. Never made for a log. */
  readonly setupLink?: string;
  /** Drains and stops: unready, streams closed spread over the drain window, requests finished. Safe to call twice. */
  stop(): Promise<void>;
}

/** How long a stopping node waits for each of its last notes to be written, in milliseconds. */
const LAST_NOTES_MS = 1000;

/** What a node tells whoever started it. */
export interface NodeOptions {
  /** Called with the node when the database came within reach only after the start, and all that is made then is. */
  readonly onLateStart?: (node: RunningNode) => void;
}

/**
 * Builds one node, listens, and follows the log. Resolves once flags are served, or once the database turned out to
 * be away for now; rejects when the node cannot start at all.
 */
export async function startNode(config: Config, options: NodeOptions = {}): Promise<RunningNode> {
  const log = createLogger({ level: config.logLevel, format: config.logFormat });
  const node = new Node(config, log, options);
  try {
    await node.start();
  } catch (error) {
    await node.stop();
    throw error;
  }
  return node;
}

/** The wiring of one node: the only place that knows every room. Parts are made in order and closed in reverse. */
class Node implements RunningNode {
  readonly #config: Config;
  readonly #log: Logger;
  readonly #options: NodeOptions;
  readonly #opener: DatabaseOpener;
  readonly #metrics: Metrics;
  readonly #counters = new EvaluationCounters();
  readonly #hub: Hub;
  readonly #catalog: Catalog;
  readonly #follower: Follower;
  readonly #freshness: NodeFreshness;
  readonly #management: ManagementContext;
  readonly #housekeeping: Housekeeping;
  readonly #schedules: ScheduleRunner;
  readonly #activity: Activity;
  readonly #closed = Promise.withResolvers<void>();
  /** Settles when the first attempt to follow the log has succeeded or failed. */
  readonly #firstAttempt = Promise.withResolvers<boolean>();
  /** Resolves when the log is followed for the first time. */
  readonly #firstLive = Promise.withResolvers<void>();
  #listeners: Listeners | undefined;
  #stopping: Promise<void> | undefined;
  firstStart?: FirstStart;
  needsOperator = false;
  setupLink?: string;

  constructor(config: Config, log: Logger, options: NodeOptions) {
    this.#config = config;
    this.#log = log;
    this.#options = options;
    this.#opener = new DatabaseOpener(config);
    this.#hub = new Hub({
      maxQueuedBytes: config.maxQueuedBytes,
      onClosed: (cause) => this.#metrics.streamClosed(cause),
      onProgress: (progress) => {
        this.#activity.progressed(progress);
        if (progress.isSettled) this.#metrics.delivered(progress);
      },
    });
    this.#catalog = new Catalog({
      changed: (environment, row) => {
        this.#hub.broadcast(environment, row);
        this.#metrics.propagated((Date.now() - row.at) / 1000);
      },
      environmentGone: (id) => this.#hub.closeEnvironment(id),
      keyGone: (id) => this.#hub.closeKey(id),
      malformed: ({ kind, id }) => {
        this.#metrics.malformedRecord(kind);
        log.error({ kind, id }, 'a stored record cannot be read and counts as absent');
      },
    });
    this.#follower = new Follower({
      source: {
        open: async () => logSourceOf((await this.#opener.get()).database).open(),
        loadSnapshot: async () => logSourceOf((await this.#opener.get()).database).loadSnapshot(),
      },
      catalog: this.#catalog,
      listener: {
        live: () => this.#onLive(),
        lost: (cause) => this.#onLost(cause),
        stillLost: (cause, attempts) => this.#onStillLost(cause, attempts),
        room: () => this.#hub.room(),
        applied: (row) => this.#activity.applied(row),
      },
    });
    this.#freshness = new NodeFreshness(this.#follower, config.maxStaleSeconds);
    this.#metrics = new Metrics(() => ({
      hub: this.#hub,
      catalog: this.#catalog,
      follower: this.#follower,
      activity: this.#activity,
      evaluation: this.#counters,
    }));
    const store = storeOf(this.#opener);
    this.#management = {
      store,
      waitForApplied: (seq) => this.#follower.waitForApplied(seq),
      assertWritable: () => {
        if (!this.#follower.isLive)
          throw unavailable('This node cannot take changes at the moment; try again shortly.');
      },
      now: Date.now,
      randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
      newId: () => Bun.randomUUIDv7(),
      scheduled: (dueAt) => this.#schedules.note(dueAt),
    };
    const database = async () => (await this.#opener.get()).database;
    const deliveries = new SqlDeliveryStore(database);
    this.#activity = new Activity({
      ...{ node: newNodeName(), catalog: this.#catalog, hub: this.#hub, store: deliveries },
      onDropped: (count) => this.#metrics.receiptsDropped(count),
    });
    this.#schedules = new ScheduleRunner({
      context: this.#management,
      log,
      isReady: () => this.#follower.isLive,
    });
    this.#housekeeping = new Housekeeping({
      ...{ catalog: this.#catalog, store, database, log, deliveries },
      openKeys: () => this.#hub.openKeys(),
    });
  }

  get isReady(): boolean {
    return this.#follower.isLive;
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

  /** Where flags are read, when management listens elsewhere. */
  #evaluationUrl(): string | undefined {
    return this.#listeners?.managementUrl === undefined ? undefined : this.url;
  }

  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  async start(): Promise<void> {
    const adminToken =
      this.#config.adminToken ?? adminTokenIn(this.#config.data, () => newAccessToken(this.#management));
    const listeners = new Listeners(this.#config);
    this.#listeners = listeners;
    this.#serve(listeners, adminToken);
    void this.#follow();
    this.#schedules.start();
    const isLive = await this.#firstAttempt.promise;
    const { url, managementUrl } = listeners;
    this.#log.info({ url, managementUrl, version: VERSION, ready: isLive }, 'listening');
    if (!isLive) {
      void this.#prepareLater();
      return;
    }
    await this.#prepare();
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#drainAndClose();
    return this.#stopping;
  }

  /** What a first start makes. A database that is lost meanwhile, or a standby, is no reason not to serve. */
  async #prepare(): Promise<void> {
    try {
      // Output for programs is a log, and secrets have no place in it: there, the first steps are commands.
      const canShowSecrets = this.#config.logFormat === 'pretty';
      const people = this.#peopleContext();
      this.needsOperator = await prepareFirstOperator(people, this.#config);
      if (this.needsOperator && canShowSecrets)
        this.setupLink = (await offerSetup(people, this.#nameAsMaker())).link;
      if (this.#config.bare) return;
      const firstStart = await createDemo(this.#management, { withKey: canShowSecrets });
      if (firstStart !== undefined) this.firstStart = firstStart;
    } catch (error) {
      if (this.#follower.isLive && !(error instanceof StoreOutage)) throw error;
      this.#warnUnprepared(error);
    }
  }

  /** A database that is away for a moment at the first start makes it no other one. */
  async #prepareLater(): Promise<void> {
    await this.#firstLive.promise;
    try {
      await this.#prepare();
    } catch (error) {
      this.#warnUnprepared(error);
    }
    this.#options.onLateStart?.(this);
  }

  #warnUnprepared(err: unknown): void {
    this.#log.warn({ err }, 'no way to set up the first administrator was made; the next start tries again');
  }

  #peopleContext(): PeopleContext {
    return {
      ...this.#management,
      passwords: new PasswordHashes(),
      publicUrl: () => this.dashboardUrl,
      evaluationUrl: () => this.#evaluationUrl(),
    };
  }

  /** Which links of earlier starts end with the next one of this node. */
  #nameAsMaker(): string {
    // Processes that share a port are told apart by their number, which no later start has.
    const sharer = this.#config.reusePort ? `:${process.pid}` : '';
    return `node:${hostname()}:${this.#listeners?.port}${sharer}`;
  }

  /** Follows the log until the node stops. What no retry can mend ends the node. */
  async #follow(): Promise<void> {
    await this.#follower.run();
  }

  #onLive(): void {
    this.#firstAttempt.resolve(true);
    this.#firstLive.resolve();
    this.#activity.live(this.#follower.seq);
    this.#log.info({ seq: this.#follower.seq }, 'following the change log');
  }

  /** [spec Events 5] In the turn in which the failure is known, every stream ends and nothing more is sent. */
  #onLost(cause: Error): void {
    this.#hub.closeAll('listener');
    this.#activity.lost();
    this.#metrics.listenerLost();
    if (cause instanceof StorageError && !this.#follower.hasSnapshot) {
      this.#log.error({ reason: cause.message }, 'the database cannot be used');
      this.#firstAttempt.reject(cause);
      return;
    }
    // Its own words say what an expected failure is; of any other the stack may tell.
    const isExpected = cause instanceof StorageError || cause instanceof StoreOutage;
    const details = isExpected ? { reason: cause.message } : { err: cause };
    this.#log.warn(details, 'the change log is out of reach; streams are closed and it is tried again');
    this.#firstAttempt.resolve(false);
  }

  /** An outage is one story: after its first line, one every half a minute or so is enough. */
  #onStillLost(cause: Error, attempts: number): void {
    const level = attempts % 16 === 0 ? 'warn' : 'debug';
    this.#log[level]({ reason: cause.message, attempts }, 'the change log is still out of reach');
  }

  #serve(listeners: Listeners, adminToken: string): void {
    const evaluation = this.#evaluationContext();
    const management = this.#managementApp(adminToken, evaluation.docsUrl);
    // Nobody is to wait for it later. Should loading fail, the next request for it says so.
    this.#firstLive.promise.then(() => management.load()).catch(() => {});
    const { docsUrl, log } = evaluation;
    listeners.serve({
      evaluation,
      scrape: guardMetrics(this.#config.metricsToken, () => this.#metrics.scrape()),
      docs: createDocs({ docsUrl, log, openApi: () => management.openApi() }),
      management: management.answer,
      dashboard: createDashboard({ load: loadBuiltAssets, docsUrl, log }),
    });
  }

  #evaluationContext(): EvaluationContext {
    const { docsUrl, rateLimit, maxStreamsPerKey, corsOrigins } = this.#config;
    return {
      catalog: this.#catalog,
      hub: this.#hub,
      freshness: this.#freshness,
      docsUrl: docsUrl ?? `${this.url}/docs`,
      log: this.#log,
      counters: this.#counters,
      corsOrigins: new Set(corsOrigins),
      ...(rateLimit === undefined ? {} : { rateLimiter: new RateLimiter(rateLimit) }),
      ...(maxStreamsPerKey === undefined ? {} : { maxStreamsPerKey }),
    };
  }

  #managementApp(adminToken: string, docsUrl: string): LazyManagementApp {
    return new LazyManagementApp({
      context: this.#management,
      adminToken,
      publicUrl: () => this.dashboardUrl,
      evaluationUrl: () => this.#evaluationUrl(),
      trustProxy: this.#config.trustProxy,
      docsUrl,
      version: VERSION,
      log: this.#log,
      openStream: environmentStreams({
        ...{ catalog: this.#catalog, hub: this.#hub, freshness: this.#freshness },
      }),
      events: this.#activity,
      deliveries: this.#activity,
    });
  }

  async #drainAndClose(): Promise<void> {
    this.#freshness.drain();
    if (this.#listeners !== undefined) {
      this.#log.info({ streams: this.#hub.size, drainSeconds: this.#config.drainSeconds }, 'draining');
    }
    const drainMs = this.#config.drainSeconds * 1000;
    await Promise.all([this.#hub.drain(drainMs), this.#listeners?.answerLast(drainMs)]);
    await withinPatience(this.#activity.close());
    await this.#listeners?.close();
    await withinPatience(this.#schedules.close());
    this.#follower.close();
    this.#catalog.close();
    this.#hub.close();
    this.#housekeeping.close();
    await withinPatience(this.#housekeeping.noteUses());
    await this.#opener.close();
    this.#log.info('stopped');
    this.#closed.resolve();
  }
}

/** Waits for the database to take a stopping node's last notes; one that has gone silent must not hold it up. */
async function withinPatience(work: Promise<void>): Promise<void> {
  await Promise.race([work, sleep(LAST_NOTES_MS, undefined, { ref: false })]);
}
