import type { LogRow } from '../domain/change-log.ts';
import type { DeliveryProgress } from '../domain/delivery.ts';
import type { OpenStreams } from '../domain/read-side.ts';
import type { EnvironmentUsage } from '../domain/usage.ts';
import type { Answers, KeyCounts, PeerReport, Question, StreamCounts, ToWorker } from './messages.ts';
import type { SupervisorChannel } from './supervisor-channel.ts';

/** Milliseconds between two reports of streams and of requests that passed a limit. */
const EXCHANGE_MS = 100;

/** Milliseconds between two reports of what clients say about their reads. */
const USAGE_MS = 1000;

/** What a worker reports about itself. */
export interface WorkerFacts {
  readonly streams: OpenStreams;
  /** How many streams of an environment are open. */
  streamsIn(environmentId: string): number;
  isLive(): boolean;
  /** What passed the rate limit since the last call; absent without a limit. */
  readonly takePassed?: () => ReadonlyMap<string, number>;
  metrics(): Promise<Answers['metrics']>;
  usedKeys(): Promise<Answers['usedKeys']>;
  /** The reads of flags that clients reported since the last call. */
  takeUsage(): readonly EnvironmentUsage[];
}

/** What a worker does on the supervisor's orders. */
export interface WorkerOrders {
  /** Another worker let these requests pass. */
  pay(keyId: string, count: number): void;
  /** The supervisor's log is there again. */
  retry(): void;
  drain(windowMs: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * A worker's side of the channel: reports what happens, answers questions and follows orders. Rows and deliveries are
 * reported in the next turn of the event loop, all of a turn in one message; the rest ten times a second.
 */
export class SupervisorLink {
  readonly #channel: SupervisorChannel;
  readonly #facts: WorkerFacts;
  readonly #orders: WorkerOrders;
  readonly #granted = Promise.withResolvers<number>();
  readonly #timer: Timer;
  readonly #usageTimer: Timer;
  /** The streams of the other workers by key. */
  readonly #peers = new Map<number, ReadonlyMap<string, number>>();
  #applied: number | undefined;
  #progress: DeliveryProgress[] = [];
  #isScheduled = false;
  #turnover = 0;

  constructor(channel: SupervisorChannel, facts: WorkerFacts, orders: WorkerOrders) {
    this.#channel = channel;
    this.#facts = facts;
    this.#orders = orders;
    channel.onMessage((message) => void this.#receive(message));
    this.#timer = setInterval(() => this.#exchange(), EXCHANGE_MS);
    this.#usageTimer = setInterval(() => this.#reportUsage(), USAGE_MS);
    facts.takePassed?.();
  }

  /** How many streams the other workers hold open with a key. */
  readonly streamsElsewhere = (keyId: string): number => {
    let sum = 0;
    for (const byKey of this.#peers.values()) sum += byKey.get(keyId) ?? 0;
    return sum;
  };

  /** Announces that the worker can serve, and resolves with the row it must have applied when it listens. */
  ready(seq: number): Promise<number> {
    this.#channel.send({ kind: 'ready', isLive: this.#facts.isLive(), seq });
    return this.#granted.promise;
  }

  /** The log is followed, and applied up to this row. */
  live(seq: number): void {
    this.#applied = seq;
    this.#flush();
    this.#channel.send({ kind: 'alive', isLive: true });
  }

  /** The log was lost. */
  lost(): void {
    this.#channel.send({ kind: 'alive', isLive: false });
  }

  /** A row was applied, and its frames are on their way. */
  applied({ seq, kind, environmentId }: LogRow): void {
    this.#applied = seq;
    this.#flushSoon();
    const streams = kind === 'flags.changed' && environmentId ? this.#facts.streamsIn(environmentId) : 0;
    if (streams === 0 || environmentId === undefined) return;
    // The supervisor must know that this worker counts before it hears that all have applied the row.
    this.progressed({ seq, environmentId, streams, seen: 0, closed: 0, slowestMs: 0, isSettled: false });
  }

  /** More streams have taken a change. */
  progressed(progress: DeliveryProgress): void {
    this.#progress.push(progress);
    this.#flushSoon();
  }

  /** Stops the timer. Safe to call twice. */
  close(): void {
    clearInterval(this.#timer);
    clearInterval(this.#usageTimer);
  }

  async #receive(message: ToWorker): Promise<void> {
    switch (message.kind) {
      case 'start':
        return;
      case 'listen':
        this.#granted.resolve(message.seq);
        return;
      case 'ping':
        this.#channel.send({ kind: 'alive', isLive: this.#facts.isLive() });
        return;
      case 'retry':
        this.#orders.retry();
        return;

      case 'ask': {
        const { id, question } = message;
        this.#channel.send({ kind: 'answer', id, answer: await this.#answer(question) });
        return;
      }

      case 'peer':
        this.#hearPeer(message);
        return;

      case 'drain':
        await this.#orders.drain(message.windowMs);
        this.#exchange();
        this.#flush();
        this.#channel.send({ kind: 'drained' });
        return;

      case 'stop': {
        const [metrics, usedKeys] = await Promise.all([this.#facts.metrics(), this.#facts.usedKeys()]);
        this.#flush();
        this.#reportUsage();
        this.#channel.send({ kind: 'stopped', metrics, usedKeys });
        await this.#orders.stop();
        return;
      }
    }
  }

  #answer(question: Question): Promise<Answers[Question]> {
    return question === 'metrics' ? this.#facts.metrics() : this.#facts.usedKeys();
  }

  #hearPeer({ from, streams, passed }: PeerReport): void {
    if (streams?.length === 0) this.#peers.delete(from);
    else if (streams !== undefined) this.#peers.set(from, new Map(streams));
    for (const [keyId, count] of passed ?? []) this.#orders.pay(keyId, count);
  }

  #exchange(): void {
    const { streams, takePassed } = this.#facts;
    const passed: KeyCounts = [...(takePassed?.() ?? [])];
    const isNew = streams.turnover !== this.#turnover;
    if (!isNew && passed.length === 0) return;
    this.#turnover = streams.turnover;
    this.#channel.send({
      kind: 'report',
      ...(isNew ? { streams: countsOf(streams) } : {}),
      ...(passed.length > 0 ? { passed } : {}),
    });
  }

  #reportUsage(): void {
    const usage = this.#facts.takeUsage();
    if (usage.length > 0) this.#channel.send({ kind: 'report', usage });
  }

  #flushSoon(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    const [applied, progress] = [this.#applied, this.#progress];
    if (applied === undefined && progress.length === 0) return;
    this.#applied = undefined;
    this.#progress = [];
    this.#channel.send({
      kind: 'report',
      ...(applied === undefined ? {} : { applied }),
      ...(progress.length === 0 ? {} : { progress }),
    });
  }
}

function countsOf(streams: OpenStreams): StreamCounts {
  return [...streams.streamsByKey()].map(([environmentId, byKey]) => [environmentId, [...byKey]]);
}
