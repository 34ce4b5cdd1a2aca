import pino from 'pino';
import type { Actor } from '../packages/server/src/domain/audit.ts';
import { ServiceError, StoreOutage } from '../packages/server/src/domain/errors.ts';
import { UNLIMITED } from '../packages/server/src/domain/rights.ts';
import type { ManagementContext } from '../packages/server/src/management/context.ts';
import { rolloutRunner } from '../packages/server/src/nouns/rollouts/rollout-runner.ts';
import { startPlan } from '../packages/server/src/nouns/rollouts/rollouts.ts';
import { scheduleRunner } from '../packages/server/src/nouns/schedules/schedule-runner.ts';
import { cancelSchedule, createSchedule } from '../packages/server/src/nouns/schedules/schedules.ts';
import { StateWriters } from '../packages/server/src/nouns/states/state-writers.ts';
import { WebhookRunner } from '../packages/server/src/nouns/webhooks/webhook-runner.ts';
import { WebhookSender } from '../packages/server/src/nouns/webhooks/webhook-sender.ts';
import { insertWebhook } from '../packages/server/src/nouns/webhooks/webhook-table.ts';
import { CommitUncertainError } from '../packages/server/src/storage/database.ts';
import { SqlStore } from '../packages/server/src/storage/store.ts';
import { seed as seedProject } from '../packages/server/src/storage/test-records.ts';
import { Chance } from './chance.ts';
import { checkDue } from './due-checks.ts';
import { SimulatedEngine } from './engine.ts';
import { takeOver } from './globals.ts';
import { Kernel, Owner } from './kernel.ts';
import { WebhookReceiver } from './receiver.ts';
import type { StoreHistoryResult } from './store-history.ts';

/** How long things go wrong, and what everything that is due may take afterwards, in virtual milliseconds. */
const [WORKING_MS, ENDING_MS] = [90_000, 240_000] as const;

/** How far apart the clocks of nodes are that are set, and of those that are not. */
const [NEAR_MS, FAR_MS] = [2_000, 3_600_000] as const;

const PEOPLE: Actor = { name: 'system', permissions: UNLIMITED };

const FLAGS = ['counter', ...Array.from({ length: 8 }, (_, index) => [`s${index}`, `p${index}`]).flat()];

/** What people asked for, and what they were told of it. */
export interface Asked {
  readonly schedules: { readonly value: string; readonly dueAt: number; id?: string; isCanceled?: boolean }[];
  readonly plans: { readonly flag: string; id?: string }[];
}

/**
 * Nodes whose clocks differ run schedules and rollout plans and deliver to a webhook, while they are killed and stand still, and
 * answers to COMMIT get lost. `empty`: {@link SimulatedEngine.empty}.
 */
export function simulateDue(seed: number, empty: Uint8Array): StoreHistoryResult {
  const kernel = new Kernel(seed);
  const never = () => {
    throw new Error('nodes ask no server and have no files');
  };
  const giveBack = takeOver({ kernel, fetch: never, files: never });
  const history = new DueHistory(kernel, seed, empty);
  try {
    kernel.after(0, () => void history.run());
    kernel.runUntil(WORKING_MS + ENDING_MS);
    return { violations: history.violations(), counts: history.counts, digest: kernel.digest };
  } finally {
    giveBack();
    history.close();
  }
}

/** A place for processes that run what is due. */
class DueNode {
  readonly name: string;
  readonly skewMs: number;
  owner: Owner;
  #started = 0;
  #webhooks: WebhookRunner | undefined;

  constructor(name: string, skewMs: number) {
    this.name = name;
    this.skewMs = skewMs;
    this.owner = new Owner(name, 0);
    this.owner.isAlive = false;
  }

  start(history: DueHistory): void {
    if (this.owner.isAlive) return;
    const { kernel, engine, receiver } = history;
    this.owner = new Owner(`${this.name}#${++this.#started}`, kernel.now, this.skewMs);
    kernel.after(
      0,
      () => {
        const context = contextOf(kernel, engine);
        const runners = [scheduleRunner, rolloutRunner].map((runner) =>
          runner({ context, log: LOG, isReady: () => true }),
        );
        // A sender calls nothing else of its poster than what the model has.
        const poster = receiver as unknown as WebhookSenderParts['poster'];
        const sender = new WebhookSender({ poster, now: context.now, dashboardUrl: '', version: '0' });
        const parts = { context, sender, node: this.owner.name, log: LOG, isReady: () => true };
        this.#webhooks = new WebhookRunner(parts);
        for (const runner of [...runners, this.#webhooks]) runner.start();
      },
      this.owner,
    );
  }

  kill(engine: SimulatedEngine): void {
    this.owner.isAlive = false;
    this.#webhooks = undefined;
    engine.drop(this.owner);
  }

  /** Its log has a row of the project. */
  hear(projectId: string): void {
    this.#webhooks?.applied({ projectId });
  }
}

/** The sender uses no more of its poster than a receiver gives. */
type WebhookSenderParts = ConstructorParameters<typeof WebhookSender>[0];

const LOG = pino({ enabled: false });

function contextOf(kernel: Kernel, engine: SimulatedEngine): ManagementContext {
  const store = new SqlStore(engine, { now: () => Date.now(), newId: () => kernel.chance.hex() });
  return {
    store,
    stateWriters: new StateWriters(store, 'environment'),
    waitForApplied: async () => {},
    assertWritable: () => {},
    now: () => Date.now(),
    randomBytes: (length) => new Uint8Array(length),
    newId: () => kernel.chance.hex(),
  };
}

class DueHistory {
  readonly counts = new Map<string, number>();
  readonly kernel: Kernel;
  readonly engine: SimulatedEngine;
  readonly receiver: WebhookReceiver;
  readonly #chance: Chance;
  readonly #nodes: DueNode[];
  readonly #asked: Asked = { schedules: [], plans: [] };
  readonly #violations: string[] = [];
  readonly #areSet: boolean;
  #projectId = '';
  /** Up to where the webhook has delivered. */
  #position = 0;
  #hookedAt = 0;
  #values = 0;

  constructor(kernel: Kernel, seed: number, empty: Uint8Array) {
    this.kernel = kernel;
    this.#chance = Chance.of(seed, 'due');
    this.engine = new SimulatedEngine(empty, kernel, Chance.of(seed, 'engine'));
    const areSet = this.#chance.happens(0.6);
    this.#areSet = areSet;
    this.receiver = new WebhookReceiver(kernel, Chance.of(seed, 'receiver'), (story) => {
      this.count('sent at once');
      if (areSet) this.#violations.push(story);
    });
    const farMs = areSet ? this.#chance.pick([0, NEAR_MS]) : FAR_MS;
    const skewMs = () => this.#chance.between(-farMs, farMs);
    // One clock is right: somebody must find what is due in time.
    this.#nodes = [0, skewMs(), skewMs()].map((skew, index) => new DueNode(`node-${index}`, skew));
    this.engine.onCommit = () => {
      this.#checkPosition();
      this.#announce();
    };
  }

  async run(): Promise<void> {
    const context = contextOf(this.kernel, this.engine);
    const { project } = await seedProject(context.store, FLAGS);
    this.#projectId = project.id;
    const { seq = 0 } = await context.store.commit(PEOPLE, (tx) =>
      insertWebhook(
        tx,
        { ...HOOK, id: this.kernel.chance.hex(), projectId: project.id, createdAt: 0 },
        'secret',
      ),
    );
    this.#hookedAt = seq;
    for (const node of this.#nodes) node.start(this);

    this.engine.trouble = this.#chance.pick([0, 0.03, 0.2]);
    this.receiver.trouble = this.#chance.pick([0, 0.1, 0.5]);
    void this.#askAgain(context);
    void this.#troubleAgain();
    await this.#pause(WORKING_MS);
    this.engine.trouble = 0;
    this.receiver.trouble = 0;
  }

  /** What does not fit together. */
  violations(): readonly string[] {
    const found = checkDue({
      engine: this.engine,
      asked: this.#asked,
      arrivals: this.receiver.arrivals,
      projectId: this.#projectId,
      hookedAt: this.#hookedAt,
      apartMs: this.#areSet ? 2 * NEAR_MS : FAR_MS,
    });
    for (const [what, count] of found.counts) this.counts.set(what, count);
    return [...this.#violations, ...found.violations];
  }

  close(): void {
    void this.engine.close();
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  /** A node whose lease has ended does not take the deliveries of the others back. */
  #checkPosition(): void {
    const [{ position } = { position: 0 }] = this.engine.peek<{ position: number }>(
      'SELECT position FROM webhooks',
    );
    if (position < this.#position)
      this.#violations.push(`the webhook went back from ${this.#position} to ${position}`);
    this.#position = position;
  }

  /** Nodes that live hear of a commit; some do not, and look again later. */
  #announce(): void {
    for (const node of this.#nodes)
      if (this.#chance.happens(0.7))
        this.kernel.after(this.#chance.between(1, 20), () => node.hear(this.#projectId), node.owner);
  }

  async #askAgain(context: ManagementContext): Promise<void> {
    while (this.kernel.now < WORKING_MS) {
      await this.#pause(this.#chance.between(200, 4_000));
      const what = this.#chance.next();
      try {
        if (what < 0.45) await this.#write(context);
        else if (what < 0.9) await this.#schedule(context);
        else await this.#plan(context);
      } catch (error) {
        // It is not known, or was refused: then nothing is expected of it but that it happens at most once.
        const isExpected =
          error instanceof StoreOutage ||
          error instanceof CommitUncertainError ||
          error instanceof ServiceError;
        if (!isExpected) throw error;
      }
    }
  }

  async #write({ stateWriters }: ManagementContext): Promise<void> {
    const next = () => JSON.stringify({ enabled: true, value: `w${++this.#values}` });
    await stateWriters.add({ actor: PEOPLE, ...PLACE, key: 'counter', next });
  }

  async #schedule(context: ManagementContext): Promise<void> {
    const value = `v${++this.#values}`;
    const dueAt = Math.floor(context.now() + this.#chance.between(500, 40_000));
    const asked: Asked['schedules'][number] = { value, dueAt };
    this.#asked.schedules.push(asked);
    const key = `s${this.#chance.whole(0, 7)}`;
    const steps = [{ key, state: JSON.stringify({ enabled: true, value }) }];
    asked.id = (await createSchedule(context, PEOPLE, { ...PLACE, dueAt, steps })).id;

    if (!this.#chance.happens(0.3)) return;
    // Mostly near the time at which it is due.
    await this.#pause(Math.max(0, dueAt - context.now() + this.#chance.between(-300, 300)));
    const { status } = await cancelSchedule(context, PEOPLE, { project: PLACE.project, id: asked.id });
    asked.isCanceled = status === 'cancelled';
  }

  async #plan(context: ManagementContext): Promise<void> {
    const index = this.#asked.plans.length;
    if (index >= 8) return;
    const asked: Asked['plans'][number] = { flag: `p${index}` };
    this.#asked.plans.push(asked);
    const steps = [
      { rolloutPct: 10 },
      { rolloutPct: 50, waitMinutes: 1 },
      { rolloutPct: 100, waitMinutes: 1 },
    ];
    asked.id = (await startPlan(context, PEOPLE, { ...PLACE, flag: asked.flag, steps })).id;
  }

  async #troubleAgain(): Promise<void> {
    const chance = this.#chance;
    for (;;) {
      await this.#pause(chance.between(500, 12_000));
      if (this.kernel.now > WORKING_MS) break;
      const node = chance.pick(this.#nodes);
      if (chance.happens(0.5)) this.kernel.pause(node.owner, chance.pick([50, 2_000, 8_000, 45_000]));
      else {
        node.kill(this.engine);
        this.kernel.after(chance.between(10, 20_000), () => node.start(this));
      }
    }
    for (const node of this.#nodes) this.kernel.resume(node.owner);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.kernel.after(ms, resolve));
  }
}

const PLACE = { project: 'demo', environment: 'production' } as const;

const HOOK = { name: 'ci', url: 'http://receiver/', format: 'json', environments: [], events: [] } as const;
