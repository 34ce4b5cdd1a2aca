import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { unavailable } from '../domain/service-error.ts';
import { environmentStreams } from '../evaluation/environment-stream.ts';
import type { ReadPlane } from '../evaluation/read-plane.ts';
import { LazyManagementApp } from '../management/api/lazy-app.ts';
import type { ManagementContext } from '../management/context.ts';
import { Activity } from '../management/deliveries/activity.ts';
import { newNodeName } from '../management/deliveries/node-name.ts';
import { PasswordHashes } from '../management/people/passwords.ts';
import type { PeopleContext } from '../management/people/people.ts';
import { SignInMemory } from '../management/people/sign-in-limit.ts';
import { ScheduleRunner } from '../management/schedules/schedule-runner.ts';
import { type DatabaseOpener, storeOf } from '../storage/database-opener.ts';
import { SqlDeliveryStore } from '../storage/delivery-store.ts';
import { VERSION } from '../version.ts';
import { Housekeeping } from './housekeeping.ts';
import type { ShutdownStep } from './shutdown.ts';

/** Where a node is reached; known once it listens. */
export interface Addresses {
  /** Where people reach the dashboard. */
  readonly dashboardUrl: string;
  /** Where programs read flags, when that differs from the dashboard's address. */
  readonly evaluationUrl: string | undefined;
}

/** What a {@link ManagementPlane} is made of. */
export interface ManagementPlaneParts {
  readonly config: Config;
  readonly log: Logger;
  readonly opener: DatabaseOpener;
  readonly plane: ReadPlane;
  readonly addresses: () => Addresses;
  readonly onReceiptsDropped: (count: number) => void;
}

/** The management plane of a node, beside its read plane: rules over a store, schedules, receipts, housekeeping. */
export class ManagementPlane {
  readonly context: ManagementContext;
  readonly people: PeopleContext;
  readonly activity: Activity;
  readonly #parts: ManagementPlaneParts;
  readonly #schedules: ScheduleRunner;
  readonly #housekeeping: Housekeeping;

  constructor(parts: ManagementPlaneParts) {
    const { opener, plane, log, addresses } = parts;
    const store = storeOf(opener);
    const database = async () => (await opener.get()).database;
    const deliveries = new SqlDeliveryStore(database);
    this.#parts = parts;
    this.context = {
      store,
      waitForApplied: (seq) => plane.follower.waitForApplied(seq),
      assertWritable: () => {
        if (!plane.follower.isLive)
          throw unavailable('This node cannot take changes at the moment; try again shortly.');
      },
      now: Date.now,
      randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
      newId: () => Bun.randomUUIDv7(),
      scheduled: (dueAt) => this.#schedules.note(dueAt),
    };
    this.people = {
      ...this.context,
      passwords: new PasswordHashes(),
      signIns: new SignInMemory(),
      publicUrl: () => addresses().dashboardUrl,
      evaluationUrl: () => addresses().evaluationUrl,
    };
    this.activity = new Activity({
      node: newNodeName(),
      catalog: plane.catalog,
      hub: plane.hub,
      store: deliveries,
      onDropped: parts.onReceiptsDropped,
    });
    this.#schedules = new ScheduleRunner({
      context: this.context,
      log,
      isReady: () => plane.follower.isLive,
    });
    this.#housekeeping = new Housekeeping({ plane, store, database, log, deliveries });
  }

  /** The management interface. Its code is loaded once the node follows the log, so that no request waits for it. */
  app(adminToken: string, docsUrl: string): LazyManagementApp {
    const { config, plane, log, addresses } = this.#parts;
    const app = new LazyManagementApp({
      context: this.context,
      adminToken,
      publicUrl: () => addresses().dashboardUrl,
      evaluationUrl: () => addresses().evaluationUrl,
      trustProxy: config.trustProxy,
      docsUrl,
      version: VERSION,
      log,
      openStream: environmentStreams(plane),
      events: this.activity,
      deliveries: this.activity,
    });
    // Should loading fail, the next request tries again and says so.
    plane.firstLive.then(() => app.load()).catch(() => {});
    return app;
  }

  /** Starts to make scheduled changes. */
  start(): void {
    this.#schedules.start();
  }

  /** Ends the streams of dashboards and writes the last receipts. Before the listeners close. */
  readonly closeActivity: ShutdownStep = {
    name: 'write the last receipts',
    kind: 'brief',
    run: () => this.activity.close(),
  };

  /** Finishes the change that is being made. After the listeners have closed. */
  readonly closeSchedules: ShutdownStep = {
    name: 'finish the scheduled change in progress',
    kind: 'brief',
    run: () => this.#schedules.close(),
  };

  /** Writes down which keys were used last. Before the database closes. */
  readonly closeHousekeeping: ShutdownStep = {
    name: 'note the last uses of keys',
    kind: 'brief',
    run: () => {
      this.#housekeeping.close();
      return this.#housekeeping.noteUses();
    },
  };
}
