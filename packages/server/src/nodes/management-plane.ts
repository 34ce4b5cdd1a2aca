import { defined } from '@halyard/protocol';
import type { Logger } from 'pino';
import { LazyManagementApp } from '../app/lazy-app.ts';
import type { Config } from '../config/config.ts';
import { temporaryError } from '../domain/errors.ts';
import type { ReadSide } from '../domain/read-side.ts';
import { parseGroupRole, type SsoSettings, ssoLengths } from '../domain/sso.ts';
import { environmentStreams } from '../evaluation/environment-stream.ts';
import type { LogServer } from '../evaluation/log/log-server.ts';
import type { ReadPlane } from '../evaluation/read-plane.ts';
import { GuardedPoster } from '../http/guarded-post.ts';
import type { ManagementContext } from '../management/context.ts';
import { ChainRunner } from '../nouns/audit-chain/chain-runner.ts';
import { Activity } from '../nouns/deliveries/activity.ts';
import { SqlDeliveryStore } from '../nouns/deliveries/delivery-table.ts';
import type { DueRunner } from '../nouns/due-runner.ts';
import type { PeopleContext } from '../nouns/people/people.ts';
import { PasswordHashes, SignInMemory } from '../nouns/people/sign-in.ts';
import { proposalRunner } from '../nouns/proposals/proposal-runner.ts';
import { ObjectStorage } from '../nouns/publishing/object-storage.ts';
import type { PublishedMap } from '../nouns/publishing/publication.ts';
import { PublishRunner } from '../nouns/publishing/publish-runner.ts';
import { rolloutRunner } from '../nouns/rollouts/rollout-runner.ts';
import { scheduleRunner } from '../nouns/schedules/schedule-runner.ts';
import { IdentityProvider } from '../nouns/sso/identity-provider.ts';
import { SSO_PATHS, type Sso } from '../nouns/sso/sso.ts';
import { lockOf, StateWriters } from '../nouns/states/state-writers.ts';
import { SqlUsageStore } from '../nouns/usage/usage-table.ts';
import { WebhookRunner } from '../nouns/webhooks/webhook-runner.ts';
import { WebhookSender } from '../nouns/webhooks/webhook-sender.ts';
import type { Database } from '../storage/database.ts';
import { SqlStore } from '../storage/store.ts';
import { VERSION } from '../version.ts';
import { Housekeeping } from './housekeeping.ts';
import { ManagementThread } from './management-thread.ts';
import { newNodeName } from './running-node.ts';
import type { ShutdownStep } from './shutdown.ts';

/** The source of keys, tokens and one-time links. */
export const RANDOM = {
  randomBytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)),
};

/**
 * How long the next piece of a long answer may take where workers pass it on, in milliseconds: they read megabytes ahead of a
 * client, and end its connection themselves if it takes nothing.
 */
const BEHIND_WORKERS_MS = 900_000;

/** Parts of a {@link ManagementPlane}. */
export interface ManagementPlaneParts {
  readonly config: Config;
  readonly log: Logger;
  readonly database: Database;
  readonly plane: ReadPlane;
  /** The processes that serve reads: the plane, or several workers. */
  readonly readers: ReadSide;
  readonly logServer: LogServer;
  readonly adminToken: string;
  readonly docsUrl: string;
  /** Where people reach the dashboard. */
  readonly dashboardUrl: string;
  /** Where programs read flags, when that differs from the dashboard's address. */
  readonly evaluationUrl: string | undefined;
  readonly onReceiptsDropped: (count: number) => void;
}

/** The management plane of a node, beside its read plane: rules over a store, schedules, receipts, housekeeping. */
export class ManagementPlane {
  readonly people: PeopleContext;
  readonly activity: Activity;
  /** The management interface: everything under `/api`. */
  readonly app: LazyManagementApp;
  /** Delivers changes to webhooks. */
  readonly webhooks: WebhookRunner;
  /** Publishes environments, where the settings say to which storage. */
  readonly publishing: PublishRunner | undefined;
  /** Chains the entries of the audit log. */
  readonly chain: ChainRunner;
  readonly #deliversWebhooks: boolean;
  /** They run schedules, and the steps of rollout plans. */
  readonly #dueRunners: readonly DueRunner[];
  readonly #housekeeping: Housekeeping;
  readonly #thread: ManagementThread;

  constructor(parts: ManagementPlaneParts) {
    const { config, database, plane, readers, log, docsUrl } = parts;
    const store = new SqlStore(database);
    const deliveries = new SqlDeliveryStore(database);
    const node = newNodeName();

    const poster = new GuardedPoster({ networks: config.webhookNetworks });
    const context: ManagementContext = {
      store,
      stateWriters: new StateWriters(store, lockOf(config)),
      problemOfAddress: (url) => poster.problemOf(url),
      waitForApplied: (seq) => readers.waitForApplied(seq),
      assertWritable: () => {
        if (!plane.follower.isLive)
          throw temporaryError('This node cannot take changes at the moment; try again shortly.');
      },
      now: Date.now,
      ...RANDOM,
      newId: () => Bun.randomUUIDv7(),
      scheduled: (dueAt) => {
        for (const runner of this.#dueRunners) runner.note(dueAt);
      },
    };

    this.people = {
      ...context,
      passwords: new PasswordHashes(),
      signIns: new SignInMemory(),
      adminToken: parts.adminToken,
      publicUrl: parts.dashboardUrl,
      evaluationUrl: parts.evaluationUrl,
      sso: ssoOf(parts),
    };

    this.activity = new Activity({
      node,
      catalog: plane.catalog,
      hub: readers.streams,
      store: deliveries,
      onDropped: parts.onReceiptsDropped,
      admitStream: () => plane.files.admitStream(),
      recheckStreams: () => plane.hub.recheckAll(),
    });

    const isReady = () => plane.follower.isLive;
    this.#dueRunners = [scheduleRunner, rolloutRunner, proposalRunner].map((runner) =>
      runner({ context, log, isReady }),
    );

    const sender = new WebhookSender({
      poster,
      now: context.now,
      dashboardUrl: parts.dashboardUrl,
      version: VERSION,
    });
    this.#deliversWebhooks = config.webhooks;
    this.webhooks = new WebhookRunner({ context, sender, node, log, isReady });

    this.chain = new ChainRunner({ context, log, isReady });

    if (config.publishUrl !== undefined) {
      this.publishing = new PublishRunner({
        context,
        storage: new ObjectStorage(config.publishUrl),
        mapOf: (environmentId) => publishedMap(plane, environmentId),
        node,
        log,
        isReady: () => plane.freshness.isCurrent,
      });
    }

    this.#housekeeping = new Housekeeping({
      readers,
      logServer: parts.logServer,
      store,
      database,
      log,
      deliveries,
      usage: new SqlUsageStore(database),
      ...defined({ auditPersonalDays: config.auditPersonalDays }),
      tally: plane.usage,
    });

    const { data, databaseUrl } = config;
    this.#thread = new ManagementThread({
      settings: {
        data,
        ...defined({ databaseUrl, webhookNetworks: config.webhookNetworks }),
      },
      isSmall: () => isSmall(plane),
      assertWritable: context.assertWritable,
      waitForApplied: context.waitForApplied,
      yieldTo: (work) => database.yieldTo(work),
      ...(config.workers > 1 && { silenceMs: BEHIND_WORKERS_MS }),
    });

    this.app = new LazyManagementApp({
      context: this.people,
      trustProxy: config.trustProxy,
      docsUrl,
      version: VERSION,
      log,
      hasApplied: (seq) => readers.hasApplied(seq),
      openStream: environmentStreams(plane),
      events: this.activity,
      deliveries: this.activity,
      webhooks: sender,
      thread: this.#thread,
    });
    // Preloaded, so that no request waits. If it fails, the next request tries again.
    plane.firstLive.then(() => this.app.load()).catch(() => {});
  }

  /** Starts to run what is due, to deliver to webhooks, and to chain the audit log. */
  start(): void {
    for (const runner of this.#dueRunners) runner.start();
    if (this.#deliversWebhooks) this.webhooks.start();
    this.publishing?.start();
    this.chain.start();
  }

  /** Before the listeners close: ends the streams of dashboards and writes the last receipts. */
  readonly closeActivity = brief('write the last receipts', () => this.activity.close());

  /** After the listeners have closed: ends the thread for heavy operations. */
  readonly closeThread = brief('end the management thread', () => this.#thread.close());

  /** After the listeners have closed: finishes the changes in progress. */
  readonly closeSchedules = brief('finish the scheduled changes', async () => {
    await Promise.all(this.#dueRunners.map((runner) => runner.close()));
  });

  /** After the listeners have closed: ends the deliveries in progress. */
  readonly closeWebhooks = brief('end the deliveries to webhooks', () => this.webhooks.close());

  /** After the listeners have closed: lets another node publish. */
  readonly closePublishing = brief('end publishing', async () => this.publishing?.close());

  /** After the listeners have closed, and while the log is followed: chains the last audit entries. */
  readonly closeChain = brief('chain the last audit entries', () => this.chain.close());

  /** Before the database closes: writes down which keys were used last, and which flags were read. */
  readonly closeHousekeeping = brief('note the last uses of keys and flags', async () => {
    this.#housekeeping.close();
    await this.#housekeeping.noteUses();
    await this.#housekeeping.storeUsage();
  });
}

/** The newest map of an environment, as readers of this node get it. */
function publishedMap({ catalog }: ReadPlane, environmentId: string): PublishedMap | undefined {
  const environment = catalog.environmentWithId(environmentId);
  if (environment === undefined) return undefined;
  const { revision, states } = environment.served();
  const { bytes, etag } = environment.whole();
  return { revision, bytes, hash: etag.slice(1, -1), states };
}

/** Single sign-on, where the settings name an identity provider. */
function ssoOf({ config, dashboardUrl, log }: ManagementPlaneParts): Sso | undefined {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcRoles = [], oidcEmailDomains } = config;
  if (issuer === undefined || clientId === undefined) return undefined;
  const settings: SsoSettings = {
    issuer,
    clientId,
    scopes: config.oidcScopes,
    groupClaim: config.oidcGroupClaim,
    groupRoles: oidcRoles.map(parseGroupRole).filter((pair) => pair !== undefined),
    trustEmail: config.oidcTrustEmail,
    label: config.oidcLabel,
    only: config.oidcOnly,
    ...ssoLengths({
      sessionMinutes: config.oidcSessionMinutes,
      idleMinutes: config.oidcIdleMinutes,
      absenceDays: config.oidcAbsenceDays,
    }),
    ...defined({
      clientSecret: config.oidcClientSecret,
      defaultRole: config.oidcDefaultRole,
      emailDomains: oidcEmailDomains,
    }),
  };

  const redirectUri = dashboardUrl + SSO_PATHS.callback;
  log.info({ issuer, redirectUri }, 'single sign-on is set up');
  return { settings, provider: new IdentityProvider({ settings, redirectUri, log, now: Date.now }) };
}

/** Projects, environments, flags, keys and changes that a list can have while a read can wait for it. */
const SMALL = 300;

function isSmall({ catalog, follower }: ReadPlane): boolean {
  // Every entry of the audit log has a change.
  let records = follower.seq + catalog.keys.size;
  for (const { size } of catalog.environments()) {
    if (records > SMALL) return false;
    records += size + 1;
  }
  return records <= SMALL;
}

function brief(name: string, run: () => Promise<void>): ShutdownStep {
  return { name, kind: 'brief', run };
}
