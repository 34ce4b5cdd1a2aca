import fc from 'fast-check';
import type {
  AuditedWrite,
  Base,
  ChangeEvent,
  ClientView,
  EventSession,
  Final,
  Frame,
  History,
  Operation,
  Read,
  StreamSession,
  Write,
} from './history.ts';

/** One thing that happens in a made-up history. Numbers choose among what is there, modulo its count. */
export type Step =
  | {
      readonly kind: 'write';
      readonly environment: number;
      readonly node: number;
      readonly shape: 'counter' | 'pair' | 'create' | 'delete';
      readonly fate: 'acknowledged' | 'unknown-committed' | 'unknown-lost' | 'refused';
    }
  | { readonly kind: 'catch-up'; readonly node: number; readonly environment: number }
  | { readonly kind: 'read'; readonly node: number; readonly environment: number }
  | { readonly kind: 'reconnect'; readonly reader: number; readonly node: number }
  | { readonly kind: 'disconnect'; readonly reader: number };

const ENVIRONMENTS = ['shop/production', 'shop/staging', 'blog/production'];
const NODES = ['node-1', 'node-2', 'node-3'];
const READERS = 9;

/** As many client libraries follow the streams of the first readers. */
const CLIENTS = 3;

/** How far a node may lag behind and still call itself current. */
const LONGEST_LAG_MS = 2_000;

/** From here on, readers follow changes instead of maps. */
const FIRST_CHANGE_READER = 4;

/** From here on, they follow events. */
const FIRST_EVENT_READER = 6;

const environment = fc.nat({ max: ENVIRONMENTS.length - 1 });
const node = fc.nat({ max: NODES.length - 1 });
const reader = fc.nat({ max: READERS - 1 });
const shape = fc.constantFrom('counter', 'pair', 'create', 'delete');
const catchUp = fc.record({ kind: fc.constant('catch-up'), node, environment });
const read = fc.record({ kind: fc.constant('read'), node, environment });
const reconnect = fc.record({ kind: fc.constant('reconnect'), reader, node });
const disconnect = fc.record({ kind: fc.constant('disconnect'), reader });

/** Histories as a fleet without a fault would make them, unanswered writes included. */
export const anySteps: fc.Arbitrary<Step[]> = stepsWith(
  fc.constantFrom(
    'acknowledged',
    'acknowledged',
    'acknowledged',
    'unknown-committed',
    'unknown-lost',
    'refused',
  ),
);

/** Histories in which every writer got an answer, so that every revision is known exactly. */
export const answeredSteps: fc.Arbitrary<Step[]> = stepsWith(
  fc.constantFrom('acknowledged', 'acknowledged', 'acknowledged', 'refused'),
);

function stepsWith(
  fate: fc.Arbitrary<'acknowledged' | 'unknown-committed' | 'unknown-lost' | 'refused'>,
): fc.Arbitrary<Step[]> {
  const write = fc.record({ kind: fc.constant('write'), environment, node, shape, fate });
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 6, arbitrary: write },
    { weight: 4, arbitrary: catchUp },
    { weight: 1, arbitrary: read },
    { weight: 2, arbitrary: reconnect },
    { weight: 1, arbitrary: disconnect },
  );
  return fc.array(step, { minLength: 10, maxLength: 120 });
}

type Flags = Record<string, unknown>;

type Opening = Omit<StreamSession, 'frames' | 'ended'>;

type OpenSession =
  | { readonly session: StreamSession; readonly frames: Frame[] }
  | { readonly session: EventSession; readonly events: ChangeEvent[] };

/**
 * A fleet that keeps every promise, in memory: one log per environment, nodes that lag behind it, readers that come
 * and go. What it records is a correct history by construction, which the checker must accept and from which tests
 * make wrong ones.
 */
class PerfectFleet {
  readonly #logs = new Map<string, Flags[]>();
  readonly #applied = new Map<string, number>();
  readonly #writes: Write[] = [];
  readonly #audit: AuditedWrite[] = [];
  readonly #reads: Read[] = [];
  readonly #sessions: OpenSession[] = [];
  readonly #open = new Map<number, OpenSession>();
  readonly #bases = new Map<string, Base>();
  #time = 1_000_000;
  #caughtUpAt = 1_000_000;
  #nextId = 1;

  constructor() {
    for (const [index, name] of ENVIRONMENTS.entries()) {
      const flags = { counter: { enabled: true, value: -1 - index }, left: { enabled: false } };
      this.#logs.set(name, [flags]);
      this.#bases.set(name, { revision: 10 * index, content: JSON.stringify(flags) });
    }
    for (let index = 0; index < READERS; index += 1) this.#reconnect(index, index % NODES.length);
  }

  take(step: Step): void {
    this.#time += 20;
    if (this.#time - this.#caughtUpAt > LONGEST_LAG_MS) this.#catchUpAll();
    if (step.kind === 'write') this.#write(step);
    else if (step.kind === 'catch-up')
      this.#catchUp(pick(NODES, step.node), pick(ENVIRONMENTS, step.environment));
    else if (step.kind === 'read') this.#read(pick(NODES, step.node), pick(ENVIRONMENTS, step.environment));
    else if (step.kind === 'reconnect') this.#reconnect(step.reader, step.node);
    else this.#disconnect(step.reader);
  }

  /** Brings all nodes and readers up to date, as time without faults does, and returns the history. */
  finish(): History {
    this.#time += 100;
    this.#catchUpAll();
    for (let index = 0; index < READERS; index += 1)
      if (!this.#open.has(index)) this.#reconnect(index, index);
    const finals: Final[] = [];
    for (const name of NODES) {
      for (const environment of ENVIRONMENTS) {
        const revision = this.#newest(environment);
        finals.push({ source: name, environment, revision, content: this.#content(environment, revision) });
      }
    }
    return {
      counterFlag: 'counter',
      environments: this.#bases,
      writes: this.#writes,
      streams: this.#sessions.flatMap((each) => ('frames' in each ? [each.session] : [])),
      clients: Array.from({ length: CLIENTS }, (_, index) => this.#viewOf(`reader-${index}`)),
      eventStreams: this.#sessions.flatMap((each) => ('events' in each ? [each.session] : [])),
      reads: this.#reads,
      endedKeys: [],
      losses: [],
      crashes: [],
      finals,
      audit: this.#audit,
      endedAt: this.#time + 10,
    };
  }

  /** What a client shows that follows the streams of a reader: each change once, and never an older one. */
  #viewOf(reader: string): ClientView {
    const sessions = this.#sessions.filter(({ session }) => session.reader === reader);
    const environment = sessions[0]?.session.environment ?? '';
    const shown = sessions.flatMap((each) => {
      if (!('frames' in each)) return [];
      return each.frames.map(({ at, content }, index) => {
        const { counter } = JSON.parse(content);
        return { at, writeId: Number(counter.value), revision: each.session.revision + index };
      });
    });

    let newest = -1;
    const sightings = shown.filter(({ revision }) => {
      const isNew = revision > newest;
      newest = Math.max(newest, revision);
      return isNew;
    });
    return { reader: `client of ${reader}`, environment, sightings };
  }

  #write(step: Extract<Step, { kind: 'write' }>): void {
    const name = pick(ENVIRONMENTS, step.environment);
    const on = pick(NODES, step.node);
    const id = this.#nextId;
    this.#nextId += 1;

    const operations = operationsOf(step.shape, id);
    const startedAt = this.#time;
    const commits = step.fate === 'acknowledged' || step.fate === 'unknown-committed';
    if (commits) {
      this.#commit(name, operations);
      // As many entries as flags, and the changes of all environments in one log.
      for (const _ of operations) this.#audit.push({ id, seq: id });
    }

    this.#time += 5;
    const common = { id, node: on, environment: name, operations, startedAt };
    if (step.fate === 'acknowledged') {
      const revision = this.#newest(name);
      this.#catchUp(on, name);
      this.#time += 1;
      const expected = id % 2 === 0 ? { expected: revision - 1 } : {};
      this.#writes.push({
        ...common,
        ...expected,
        outcome: 'acknowledged',
        revision,
        finishedAt: this.#time,
      });
    } else {
      const outcome = step.fate === 'refused' ? 'refused' : 'unknown';
      this.#writes.push({ ...common, outcome, finishedAt: this.#time });
    }
  }

  #commit(name: string, operations: readonly Operation[]): void {
    const log = this.#log(name);
    const next: Flags = { ...log.at(-1) };
    for (const [key, state] of operations) {
      if (state === null) delete next[key];
      else next[key] = JSON.parse(state);
    }
    log.push(next);
  }

  #catchUpAll(): void {
    this.#caughtUpAt = this.#time;
    for (const name of NODES) for (const environment of ENVIRONMENTS) this.#catchUp(name, environment);
  }

  #catchUp(on: string, name: string): void {
    const place = `${on} ${name}`;
    const from = this.#appliedOn(on, name);
    for (let revision = from + 1; revision <= this.#newest(name); revision += 1) {
      this.#applied.set(place, revision);
      this.#time += 0.5;
      for (const open of this.#open.values()) {
        const { session } = open;
        if (session.node !== on || session.environment !== name) continue;
        if ('frames' in open) {
          const frame = { at: this.#time, content: this.#content(name, revision) };
          const isOfChanges = open.frames[0]?.change !== undefined;
          open.frames.push(isOfChanges ? { ...frame, change: { from: revision - 1, to: revision } } : frame);
        } else open.events.push({ at: this.#time, revision, asksToRead: true });
      }
    }
  }

  #read(on: string, name: string): void {
    const revision = this.#appliedOn(on, name);
    const content = this.#content(name, revision);
    const requestedAt = this.#time;
    this.#time += 2;
    this.#reads.push({
      kind: 'read',
      node: on,
      environment: name,
      key: 'reader',
      requestedAt,
      answeredAt: this.#time,
      status: 200,
      revision,
      content,
      freshness: 'current',
    });
  }

  #reconnect(index: number, onIndex: number): void {
    this.#disconnect(index);
    const on = pick(NODES, onIndex);
    const name = pick(ENVIRONMENTS, index);
    const revision = this.#appliedOn(on, name);
    const opening = {
      id: `stream-${this.#sessions.length}`,
      reader: `reader-${index}`,
      node: on,
      environment: name,
      key: `key-${index % 2}`,
      requestedAt: this.#time,
      openedAt: this.#time + 1,
      revision,
    };
    const isOfChanges = index >= FIRST_CHANGE_READER;
    const open =
      index < FIRST_EVENT_READER ? this.#openMaps(opening, isOfChanges) : this.#openEvents(opening);
    this.#time += 3;
    this.#sessions.push(open);
    this.#open.set(index, open);
    if ('events' in open) this.#readFor(open);
  }

  #openMaps(opening: Opening, isOfChanges: boolean): OpenSession {
    const { environment, revision } = opening;
    const first = { at: this.#time + 2, content: this.#content(environment, revision) };
    const frames: Frame[] = [isOfChanges ? { ...first, change: { from: null, to: revision } } : first];
    return { session: { ...opening, frames }, frames };
  }

  /** A reader of events says which it had last, and then the opening need not ask it to read. */
  #openEvents(opening: Opening): OpenSession {
    const before = this.#sessions.findLast(({ session }) => session.reader === opening.reader)?.session;
    const lastEventId = before && before.revision + before.frames.length - 1;
    const asksToRead = lastEventId !== opening.revision;
    const events: ChangeEvent[] = [{ at: this.#time + 2, revision: opening.revision, asksToRead }];
    const known = lastEventId === undefined ? {} : { lastEventId };
    return { session: { ...opening, ...known, frames: events }, events };
  }

  /** The read that an event causes, on the node that sent it. */
  #readFor({ session }: OpenSession): void {
    const { node: on, environment: name, key } = session;
    const revision = this.#appliedOn(on, name);
    const [requestedAt, answeredAt] = [this.#time, this.#time + 2];
    this.#time += 2;
    this.#reads.push({
      kind: 'bulk',
      node: on,
      environment: name,
      key,
      requestedAt,
      answeredAt,
      status: 200,
      revision,
      after: revision,
      freshness: 'current',
    });
  }

  #disconnect(index: number): void {
    const open = this.#open.get(index);
    if (open === undefined) return;
    this.#open.delete(index);
    Object.assign(open.session, { ended: { at: this.#time, how: 'cut' } });
    this.#time += 1;
  }

  #log(name: string): Flags[] {
    const log = this.#logs.get(name);
    if (log === undefined) throw new Error(`there is no environment ${name}`);
    return log;
  }

  #newest(name: string): number {
    return (this.#bases.get(name)?.revision ?? 0) + this.#log(name).length - 1;
  }

  #appliedOn(on: string, name: string): number {
    return this.#applied.get(`${on} ${name}`) ?? this.#bases.get(name)?.revision ?? 0;
  }

  #content(name: string, revision: number): string {
    return JSON.stringify(this.#log(name)[revision - (this.#bases.get(name)?.revision ?? 0)]);
  }
}

/** The history that a fleet without faults makes of the steps. */
export function perfectHistory(steps: readonly Step[]): History {
  const fleet = new PerfectFleet();
  for (const step of steps) fleet.take(step);
  return fleet.finish();
}

function operationsOf(shape: 'counter' | 'pair' | 'create' | 'delete', id: number): Operation[] {
  const state = JSON.stringify({ enabled: true, value: id });
  const counter: Operation = ['counter', state];
  const passing = `passing-${id % 4}`;
  if (shape === 'counter') return [counter];
  if (shape === 'pair') return [counter, ['left', state], ['right', state]];
  return [counter, [passing, shape === 'create' ? state : null]];
}

function pick<T>(list: readonly T[], index: number): T {
  const item = list[index % list.length];
  if (item === undefined) throw new Error('there is nothing to pick from');
  return item;
}
