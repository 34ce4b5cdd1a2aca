import { Management, until } from '@halyard/testing';
import { Chance } from '../simulation/chance.ts';
import { openRecordedChanges } from './change-reader.ts';
import type { History } from './checker/history.ts';
import type { Violation } from './checker/violation.ts';
import { type ClientProgram, ClientReader } from './client-reader.ts';
import { now } from './clock.ts';
import { recordCpuWaits, untilDone } from './cpu-waits.ts';
import { EventReader } from './event-reader.ts';
import { type Fault, faultsOf } from './faults.ts';
import { recordAudit, recordFinals } from './final-state.ts';
import { type Engine, startFleet } from './fleet.ts';
import { type Fleet, managersOf } from './fleet-node.ts';
import { PublishedReader, publishAll, watchFiles } from './published-reader.ts';
import { openRecorded, StreamReader } from './reader.ts';
import { Recorder } from './recorder.ts';
import { runRestReader } from './rest-reader.ts';
import { RestoreDrill } from './restore-drill.ts';
import { COUNTER, createWorld, type World } from './world.ts';
import { runWriter, WriteIds } from './writer.ts';

/** How to run a campaign. */
export interface CampaignOptions {
  readonly engine: Engine;
  readonly seed: number;
  /** How long writers write and faults happen. */
  readonly seconds: number;
  /** Writes per second that the writers try, all together. */
  readonly rate: number;
  /** Streams per node. */
  readonly streams: number;
  /** Programs with client libraries that read too, one each. Default none. */
  readonly clients?: readonly ClientProgram[];
  /** Only faults of these kinds, in this order, over and over; none for an empty list. Default: all, in random order. */
  readonly faults?: readonly string[];
  /** Whether the campaign is over once each of {@link faults} has happened, however many seconds are left. Default no. */
  readonly once?: boolean;
  /** Quiet time between two faults, on average. Default 3,000 ms. */
  readonly betweenFaultsMs?: number;
  /** Whether enough has happened; a slow machine continues until then. By default, the time alone decides. */
  readonly isEnough?: () => boolean;
  /** How long everybody may take to hold the newest state after the last fault. Default 35,000 ms (P6). */
  readonly convergenceMs?: number;
  /** How long the fleet may refuse what a fault needs, such as a new key. Default 30,000 ms. */
  readonly preparationMs?: number;
  /** Whether to restore the fleet from a backup in the end, where its database can be backed up. Default no. */
  readonly drillsRestore?: boolean;
  /** Receives a line for each event, as it happens. */
  readonly tell?: (line: string) => void;
}

/** Everything but the choice of a fleet. */
export type RunOptions = Omit<CampaignOptions, 'engine'>;

/** The result of a campaign. */
export interface CampaignResult {
  readonly history: History;
  /** What was not as promised after the history had ended: see {@link RestoreDrill}. */
  readonly afterwards: readonly Violation[];
  /** How often each fault was caused. */
  readonly faults: ReadonlyMap<string, number>;
  /** The output of each node. */
  readonly logs: ReadonlyMap<string, string>;
}

/** P6: the longest backoff of a client and five seconds. */
const CONVERGENCE_MS = 35_000;

/** How long a slow machine may take until enough has happened. */
const ENOUGH_MS = 90_000;

/** Writers at work at once. */
const WRITERS = 8;

/** Starts a fleet, writes, reads, breaks things, waits until it has recovered, and returns the record. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const fleet = await startFleet(options.engine);
  try {
    return await runCampaignOn(fleet, options);
  } finally {
    await fleet.close();
  }
}

/**
 * Runs a campaign on a fleet that is there already, and leaves it running. Rejects when the campaign could not be
 * carried out, with the fault or the preparation that failed.
 */
export async function runCampaignOn(fleet: Fleet, options: RunOptions): Promise<CampaignResult> {
  const wanted = wantedFaults(fleet, options.faults);
  const world = await createWorld(fleet, new Recorder(), new Chance(options.seed), options.preparationMs);
  await publishAll(world);
  if (options.drillsRestore !== true || fleet.database === undefined)
    return { ...(await act(world, wanted, options)), afterwards: [] };
  using drill = new RestoreDrill(fleet);
  const timer = setTimeout(() => drill.backUp(world), options.seconds * 500);
  try {
    const result = await act(world, wanted, options);
    options.tell?.('restoring a backup');
    return { ...result, afterwards: await restore(drill, world, options) };
  } finally {
    clearTimeout(timer);
  }
}

/** Restores a backup while readers are connected. Their record is not checked, because acknowledged changes are lost on purpose. */
async function restore(
  drill: RestoreDrill,
  before: World,
  options: RunOptions,
): Promise<readonly Violation[]> {
  const world = { ...before, recorder: new Recorder() };
  const readers = hireReaders(world, Math.min(options.streams, 4));
  const reading = new AbortController();
  const done = readers.map((reader) => reader.run(reading.signal, AbortSignal.abort()));
  try {
    return await drill.restore(
      world,
      () => findLaggard(world, readers),
      options.convergenceMs ?? CONVERGENCE_MS,
    );
  } finally {
    reading.abort();
    await Promise.allSettled(done);
    for (const reader of readers) reader.close();
  }
}

async function act(
  world: World,
  wanted: readonly Fault[] | undefined,
  options: RunOptions,
): Promise<Omit<CampaignResult, 'afterwards'>> {
  const { fleet, recorder } = world;
  await using clients = await hireClients(world, options.clients ?? []);
  const readers = hireReaders(world, options.streams);
  const reading = new AbortController();
  const writing = new AbortController();

  const readersDone = readers.map((reader) => reader.run(reading.signal, writing.signal));
  const ids = new WriteIds();
  const writersDone = Array.from({ length: WRITERS }, () =>
    runWriter(world, ids, (1_000 * WRITERS) / options.rate, writing.signal),
  );
  writersDone.push(runRestReader(world, 50, writing.signal));
  if (fleet.storage !== undefined) writersDone.push(watchFiles(world, writing.signal));
  const waitsDone = recordCpuWaits(fleet, (wait) => recorder.cpuWait(wait), reading.signal);

  const everyone = Promise.allSettled([...writersDone, ...readersDone, waitsDone]);
  try {
    const faults = await causeFaults(world, wanted, options);
    writing.abort();
    await Promise.all(writersDone);
    await converge(world, [...readers, ...clients.readers], options);

    await recordFinals(world);
    await recordAudit(world);
    for (const node of fleet.nodes) {
      for (const at of node.losses()) recorder.loss({ node: node.name, at });
      for (const crash of node.crashes) recorder.crash(crash);
    }

    const history = recorder.seal(COUNTER);
    return { history, faults, logs: new Map(fleet.nodes.map((node) => [node.name, node.logs()])) };
  } finally {
    writing.abort();
    reading.abort();
    await everyone;
    for (const reader of readers) reader.close();
  }
}

/** How many readers of maps there are for each reader of events, which also reads all flags at each event. */
const MAPS_PER_EVENTS = 4;

/** Readers of the published files of each environment, where there are any; one more follows a node. */
const PUBLISHED_READERS = 3;

type Reader = Pick<StreamReader | EventReader | ClientReader | PublishedReader, 'name' | 'place' | 'reached'>;

function hireReaders(world: World, perNode: number): (StreamReader | EventReader | PublishedReader)[] {
  const { places, fleet } = world;
  const events = Math.max(places.length, Math.floor((fleet.nodes.length * perNode) / MAPS_PER_EVENTS));
  const eventReaders = Array.from({ length: events }, (_, index) => {
    const place = places[index % places.length];
    if (place === undefined) throw new Error('the world has places');
    return new EventReader(`event-reader-${index}`, place, world);
  });
  return [...hireStreamReaders(world, perNode), ...eventReaders, ...hirePublishedReaders(world)];
}

function hirePublishedReaders(world: World): PublishedReader[] {
  const { storage } = world.fleet;
  if (storage === undefined) return [];
  return world.places.flatMap((place, at) =>
    Array.from({ length: PUBLISHED_READERS + 1 }, (_, index) => {
      const node = index < PUBLISHED_READERS ? undefined : world.fleet.nodes[at % world.fleet.nodes.length];
      return new PublishedReader(`published-reader-${place.name}-${index}`, place, storage, world, node?.url);
    }),
  );
}

function hireStreamReaders(world: World, perNode: number): StreamReader[] {
  return world.fleet.nodes.flatMap((node, at) =>
    Array.from({ length: perNode }, (_, index) => {
      const place = world.places[index % world.places.length];
      if (place === undefined) throw new Error('the world has places');
      // Half of them make their maps of changes.
      const open = (at + index) % 2 === 0 ? openRecorded : openRecordedChanges;
      return new StreamReader(`reader-${node.name}-${index}`, place, node, world, open);
    }),
  );
}

/** Starts a program of each client library; they end together. */
async function hireClients(world: World, programs: readonly ClientProgram[]) {
  const readers: ClientReader[] = [];
  const dispose = async () => {
    await Promise.all(readers.map((reader) => reader[Symbol.asyncDispose]()));
  };

  try {
    for (const [index, program] of programs.entries()) {
      const place = world.places[index % world.places.length];
      if (place === undefined) throw new Error('the world has places');
      readers.push(await ClientReader.start(program, place, world));
    }
  } catch (error) {
    await dispose();
    throw error;
  }
  return { readers, [Symbol.asyncDispose]: dispose };
}

async function causeFaults(
  world: World,
  wanted: readonly Fault[] | undefined,
  options: RunOptions,
): Promise<ReadonlyMap<string, number>> {
  const random = world.random.fork();
  const counts = new Map<string, number>();
  let endsAt = now() + options.seconds * 1_000;
  const betweenMs = options.betweenFaultsMs ?? 3_000;
  await Bun.sleep(Math.min(betweenMs, options.seconds * 500));
  for (const fault of planOf(world.fleet, wanted, random)) {
    // A machine may be too busy for any in time.
    if (now() >= endsAt && counts.size > 0) break;
    options.tell?.(`${Math.round((endsAt - now()) / 1_000)} s left: ${fault.kind}`);
    await fault.run(world, random).catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`the fault "${fault.kind}" could not be caused: ${reason}`, { cause });
    });
    counts.set(fault.kind, (counts.get(fault.kind) ?? 0) + 1);
    await Bun.sleep(Math.min(random.between(0.5, 1.5) * betweenMs, Math.max(0, endsAt - now())));
    if (options.once === true && counts.size === wanted?.length) endsAt = now();
  }

  await Bun.sleep(Math.max(0, endsAt - now()));
  await until('enough has happened in the campaign', options.isEnough ?? (() => true), ENOUGH_MS);
  return counts;
}

/** The faults of these kinds, in this order; `undefined` without a list. Throws for a kind that the fleet cannot have. */
function wantedFaults(fleet: Fleet, kinds: readonly string[] | undefined): readonly Fault[] | undefined {
  const faults = faultsOf(fleet);
  return kinds?.map((kind) => {
    const fault = faults.find((each) => each.kind === kind);
    if (fault === undefined) throw new Error(`there is no fault ${kind}`);
    return fault;
  });
}

function* planOf(fleet: Fleet, wanted: readonly Fault[] | undefined, random: Chance): Generator<Fault> {
  while (wanted?.length !== 0) yield* wanted ?? random.shuffle(faultsOf(fleet));
}

async function converge(world: World, readers: readonly Reader[], options: RunOptions): Promise<void> {
  options.tell?.('waiting for everybody to converge');
  // If not, the checker says who is behind.
  const look = async () => (await findLaggard(world, readers)) === undefined;
  await untilDone(world.fleet, look, options.convergenceMs ?? CONVERGENCE_MS);
}

/** The first node or reader that lacks the newest state, with what it holds; `undefined` if none does. */
async function findLaggard(world: World, readers: readonly Reader[]): Promise<string | undefined> {
  for (const place of world.places) {
    const [manager] = managersOf(world.fleet);
    if (manager === undefined) throw new Error('a fleet has a node that takes changes');
    const management = new Management({ url: manager.url, adminToken: world.fleet.adminToken });
    try {
      const { revision } = await management.states(place.project, place.environment);
      const wanted = `instead of ${revision} of ${place.name}`;
      for (const node of world.fleet.nodes) {
        const rest = await fetch(`${node.url}/v1/flags?env=${place.environment}`, {
          headers: { 'X-Service-Key': place.key },
          signal: AbortSignal.timeout(10_000),
        });
        await rest.body?.cancel();
        const shown = rest.headers.get('x-flags-revision');
        if (shown !== String(revision))
          return `${node.name} has revision ${shown} ${wanted} (${rest.status})`;
      }
      const behind = readers.find((reader) => reader.place === place && reader.reached !== revision);
      if (behind !== undefined) return `${behind.name} has revision ${behind.reached} ${wanted}`;
    } catch (error) {
      return `a node does not answer: ${error}`;
    }
  }
  return undefined;
}
