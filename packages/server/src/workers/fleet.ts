import type { Logger } from 'pino';
import type { Readiness } from '../domain/read-side.ts';
import type { EnvironmentUsage } from '../domain/usage.ts';
import type { Answers, FromWorker, PeerReport, ToWorker } from './messages.ts';
import type { Readers } from './readers.ts';
import { WorkerProcess } from './worker-process.ts';

/** Milliseconds between two pings. */
const TICK_MS = 500;

/**
 * Pings in a row that a worker may leave unanswered, while it serves and before. Counted in pings rather than in time,
 * so that a machine that was asleep does not end its workers when it wakes up.
 */
const UNANSWERED = { serving: 8, starting: 60 } as const;

/**
 * Pings in a row at which a worker may say that it does not follow the log while the supervisor does. One that starts
 * loads everything first.
 */
const BEHIND = { serving: 40, starting: 240 } as const;

/** A worker that served for this long was healthy: when it ends, it is replaced at once. In milliseconds. */
const STEADY_MS = 10_000;

/** The first replacements of a worker that does not last come at once, the next ones after a pause that doubles. */
const RESTART = { atOnce: 3, firstMs: 500, longestMs: 30_000 } as const;

/** While nothing listens, so many places are held back no longer than this, in milliseconds: the other one may be killed too. */
const ALONE = { places: 2, longestMs: 500 } as const;

/** Longest a worker may take to end once it has been asked to, in milliseconds. */
const STOP_MS = 3000;

/** Parts of a {@link Fleet}. */
export interface FleetOptions {
  /** How many workers to run. */
  readonly size: number;
  readonly readers: Readers;
  /** The supervisor's own read plane. */
  readonly own: { readonly isLive: () => boolean; readonly seq: () => number };
  /** The settings of one worker, by its number from 1. */
  readonly settingsOf: (number: number) => object;
  /** Whether workers must know what the others do, because a limit holds for all of them. */
  readonly sharesLimits: boolean;
  readonly log: Logger;
  /** Clients have reported reads of flags to a worker. */
  readonly onUsage: (usage: readonly EnvironmentUsage[]) => void;
  /** A worker has ended; its metrics when they were last asked for. */
  readonly onEnded: (metrics: Answers['metrics']) => void;
}

/** One worker that runs. */
interface Worker {
  /** Differs for each process. */
  readonly id: number;
  readonly process: WorkerProcess;
  readonly drained: PromiseWithResolvers<void>;
  readonly ended: PromiseWithResolvers<void>;
  listeningSince: number | undefined;
  isLive: boolean;
  /** Whether it was live at any time, so that it has flags to answer with. */
  hasFollowed: boolean;
  unanswered: number;
  behind: number;
  lastMetrics: Answers['metrics'];
}

function isListening({ listeningSince }: Worker): boolean {
  return listeningSince !== undefined;
}

function noteLive(worker: Worker, isLive: boolean): void {
  worker.isLive = isLive;
  worker.hasFollowed ||= isLive;
}

/** The place of one worker, whose process is replaced when it ends. */
interface Place {
  readonly number: number;
  /** It has served once, or its first process has failed. */
  readonly settled: PromiseWithResolvers<void>;
  worker: Worker | undefined;
  /** Processes in a row that did not last. */
  failures: number;
  restart: Timer | undefined;
  /** Whether its process has ended once. */
  isReplaced: boolean;
}

/** The worker processes of a machine: starts them, replaces those that end or stop answering, and stops them together. */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #places: readonly Place[];
  #timer: Timer | undefined;
  #isStopping = false;
  #lastId = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#places = Array.from({ length: options.size }, (_, index) => ({
      number: index + 1,
      settled: Promise.withResolvers<void>(),
      worker: undefined,
      failures: 0,
      restart: undefined,
      isReplaced: false,
    }));
  }

  /** Whether at least one worker serves, and each one that does follows the log. */
  get isServing(): boolean {
    const serving = this.#workers().filter(isListening);
    return serving.length > 0 && serving.every(({ isLive }) => isLive);
  }

  /** Starts the workers. Resolves when each of them serves, or has failed for the first time. */
  async start(): Promise<void> {
    for (const place of this.#places) this.#run(place);
    this.#tickLater();
    await Promise.all(this.#places.map(({ settled }) => settled.promise));
  }

  /** The supervisor follows the log again: workers need not wait for their next attempt. */
  retry(): void {
    for (const { process } of this.#workers()) process.send({ kind: 'retry' });
  }

  /** How current the machine is: as its supervisor, with workers that serve. For reads one of them is enough. */
  freshness(own: Readiness): Readiness {
    return {
      canRead: () => own.canRead(),
      canStream: () => own.canStream() && this.isServing,
      takesReads: () =>
        own.takesReads() && this.#workers().some((worker) => isListening(worker) && worker.hasFollowed),
      mayLackRecords: () => own.mayLackRecords(),
      trouble: () => own.trouble() ?? (this.isServing ? undefined : 'Worker processes are not serving yet.'),
      staleSeconds: () => own.staleSeconds(),
    };
  }

  /** The metrics of each worker. */
  async metrics(): Promise<readonly Answers['metrics'][]> {
    const workers = this.#workers();
    await Promise.all(
      workers.map(async (worker) => {
        worker.lastMetrics = (await worker.process.ask('metrics')) ?? worker.lastMetrics;
      }),
    );
    return workers.map(({ lastMetrics }) => lastMetrics);
  }

  /** Ends the streams of all workers, spread over a window, and then each connection with its next answer. */
  async drain(windowMs: number): Promise<void> {
    this.#isStopping = true;
    for (const { restart } of this.#places) clearTimeout(restart);
    await this.#tell({ kind: 'drain', windowMs }, windowMs + STOP_MS, ({ drained, ended }) =>
      Promise.race([drained.promise, ended.promise]),
    );
  }

  /** Ends all workers; those that do not end by themselves are killed. Safe to call twice. */
  async close(): Promise<void> {
    this.#isStopping = true;
    for (const { restart } of this.#places) clearTimeout(restart);
    await this.#tell({ kind: 'stop' }, STOP_MS, ({ ended }) => ended.promise);
    const left = this.#workers();
    for (const { process } of left) process.kill();
    await Promise.all(left.map(({ ended }) => ended.promise));
    clearTimeout(this.#timer);
  }

  async #tell(message: ToWorker, withinMs: number, until: (worker: Worker) => Promise<void>): Promise<void> {
    const workers = this.#workers();
    for (const { process } of workers) process.send(message);
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, withinMs);
    await Promise.race([Promise.all(workers.map(until)), late.promise]);
    clearTimeout(timer);
  }

  #workers(): Worker[] {
    return this.#places.flatMap(({ worker }) => (worker === undefined ? [] : [worker]));
  }

  #run(place: Place): void {
    const { log, settingsOf } = this.#options;
    const process = new WorkerProcess({
      onMessage: (message) => this.#receive(place, worker, message),
      onExit: (how) => this.#onExit(place, worker, how),
    });
    const worker: Worker = {
      id: ++this.#lastId,
      process,
      drained: Promise.withResolvers(),
      ended: Promise.withResolvers(),
      listeningSince: undefined,
      isLive: false,
      hasFollowed: false,
      unanswered: 0,
      behind: 0,
      lastMetrics: [],
    };

    place.worker = worker;
    log.debug({ worker: place.number, pid: process.pid }, 'a worker starts');
    process.send({ kind: 'start', settings: settingsOf(place.number) });
  }

  #receive(place: Place, worker: Worker, message: FromWorker): void {
    const { readers, log, own } = this.#options;
    switch (message.kind) {
      case 'ready':
        noteLive(worker, message.isLive);
        readers.join(worker.id, message.seq, async () => (await worker.process.ask('usedKeys')) ?? []);
        for (const { id } of this.#workers()) {
          if (id !== worker.id) this.#tellPeer(worker, { from: id, streams: readers.streamsOf(id) });
        }
        worker.process.send({ kind: 'listen', seq: message.isLive ? own.seq() : 0 });
        return;

      case 'listening':
        worker.listeningSince = performance.now();
        if (place.isReplaced)
          log.info({ worker: place.number, pid: worker.process.pid }, 'a worker serves again');
        place.settled.resolve();
        return;

      case 'refused':
        log.warn({ worker: place.number, reason: message.message }, 'a worker cannot listen');
        return;

      case 'alive':
        noteLive(worker, message.isLive);
        worker.unanswered = 0;
        return;

      case 'report': {
        readers.report(worker.id, message);
        const { streams, passed, usage } = message;
        if (usage !== undefined) this.#options.onUsage(usage);
        if (streams !== undefined)
          this.#tellPeers({ from: worker.id, streams: readers.streamsOf(worker.id) });
        if (passed !== undefined) this.#tellPeers({ from: worker.id, passed });
        return;
      }

      case 'drained':
        worker.drained.resolve();
        return;

      case 'stopped':
        worker.lastMetrics = message.metrics;
        readers.leave(worker.id, message.usedKeys);
        return;

      case 'answer':
        // Handled by its process.
        return;
    }
  }

  #onExit(place: Place, worker: Worker, how: string): void {
    const { readers, log } = this.#options;
    place.worker = undefined;
    place.isReplaced = true;
    this.#options.onEnded(worker.lastMetrics);
    readers.leave(worker.id);
    this.#tellPeers({ from: worker.id, streams: [] });
    worker.ended.resolve();
    place.settled.resolve();
    if (this.#isStopping) return;
    const ranMs = performance.now() - (worker.listeningSince ?? Number.POSITIVE_INFINITY);
    place.failures = ranMs >= STEADY_MS ? 0 : place.failures + 1;
    const delayMs = restartDelayMs(place.failures);
    const facts = { worker: place.number, pid: worker.process.pid, how, failures: place.failures, delayMs };
    if (delayMs === 0) log.warn(facts, 'a worker ended and is replaced');
    else log.error(facts, 'a worker keeps ending and is held back for a while');
    this.#runIn(place, delayMs);
    this.#endHolds();
  }

  #runIn(place: Place, delayMs: number): void {
    clearTimeout(place.restart);
    place.restart = undefined;
    if (delayMs === 0) this.#run(place);
    else place.restart = setTimeout(() => this.#runIn(place, 0), delayMs);
  }

  /** While no worker listens, the whole node is away, its management and `/healthz` too: then some places may try at once. */
  #endHolds(): void {
    if (this.#workers().some(({ listeningSince }) => listeningSince !== undefined)) return;
    const held = this.#places.filter(({ restart }) => restart !== undefined);
    const missing = Math.max(0, ALONE.places - this.#workers().length);
    for (const place of held.slice(0, missing)) {
      this.#runIn(place, Math.min(ALONE.longestMs, restartDelayMs(place.failures)));
    }
  }

  /** One timer after the other: after a sleep of the machine, repeated timers would count many pings at once. */
  #tickLater(): void {
    this.#timer = setTimeout(() => {
      for (const place of this.#places) if (place.worker !== undefined) this.#check(place, place.worker);
      this.#tickLater();
    }, TICK_MS);
  }

  /** Ends a worker that does not answer or cannot follow: its streams would stay open and silent. */
  #check(place: Place, worker: Worker): void {
    const { log, own } = this.#options;
    const phase = worker.listeningSince === undefined ? 'starting' : 'serving';
    worker.behind = own.isLive() && !worker.isLive ? worker.behind + 1 : 0;
    const isSilent = worker.unanswered >= UNANSWERED[phase];
    if (!this.#isStopping && (isSilent || worker.behind >= BEHIND[phase])) {
      const facts = { worker: place.number, pid: worker.process.pid };
      log.error(
        facts,
        isSilent ? 'a worker does not answer and is ended' : 'a worker cannot follow the log and is ended',
      );
      worker.process.kill();
      return;
    }
    worker.unanswered++;
    worker.process.send({ kind: 'ping' });
  }

  #tellPeers(news: PeerReport): void {
    for (const worker of this.#workers()) if (worker.id !== news.from) this.#tellPeer(worker, news);
  }

  #tellPeer(worker: Worker, news: PeerReport): void {
    if (this.#options.sharesLimits) worker.process.send({ kind: 'peer', ...news });
  }
}

function restartDelayMs(failures: number): number {
  const doublings = failures - RESTART.atOnce - 1;
  return doublings < 0 ? 0 : Math.min(RESTART.firstMs * 2 ** Math.min(doublings, 10), RESTART.longestMs);
}
