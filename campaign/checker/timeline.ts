import { type ContentReader, canonicalJson, type FlagTexts } from './content.ts';
import type { Base, History, Write } from './history.ts';
import type { Report } from './violation.ts';

/** The texts a flag may have at a point of the timeline; `null` means absent. */
type Possible = ReadonlySet<string | null>;

const ABSENT: Possible = new Set([null]);

/** Something that says which write made a revision: a frame, a read, a final state. */
export interface Sighting {
  readonly revision: number;
  readonly content: string;
  readonly at: number;
  /** The observer, for the story. */
  readonly subject: string;
}

/**
 * The committed history of one environment as far as it can be known: which write made which revision, and what the
 * map was then. Acknowledgements are believed first; where a writer got no answer, what readers saw decides.
 */
export class Timeline {
  readonly environment: string;
  readonly base: Base;
  readonly #content: ContentReader;
  readonly #report: Report;
  readonly #writes: ReadonlyMap<number, Write>;
  readonly #revisionOf = new Map<number, number>();
  readonly #writeAt = new Map<number, Write>();
  readonly #unplaced: Write[] = [];
  /** The counter of the map before the first write. */
  readonly baseWriteId: number | undefined;
  /** The highest revision known to be committed. */
  newest: number;

  constructor(environment: string, history: History, content: ContentReader, report: Report) {
    const base = history.environments.get(environment);
    if (base === undefined) throw new Error(`the history lacks the base of ${environment}`);
    this.environment = environment;
    this.base = base;
    this.newest = base.revision;
    this.#content = content;
    this.#report = report;
    this.baseWriteId = content.read(base.content).writeId;
    this.#writes = new Map(
      history.writes.filter((write) => write.environment === environment).map((write) => [write.id, write]),
    );
  }

  /** Places every write and replays the map revision by revision, against everything that was seen of it. */
  reconstruct(sightings: readonly Sighting[]): void {
    this.#placeAcknowledged();
    this.#placeUnknown(sightings);
    this.#replay(sightings);
  }

  /** The revision that a write made, where it is known. */
  revisionOfWrite(write: Write): number | undefined {
    return this.#revisionOf.get(write.id);
  }

  /** The write that made a revision, where it is known. */
  writeAt(revision: number): Write | undefined {
    return this.#writeAt.get(revision);
  }

  /** The revision of a map, by the write it ends with; `undefined` for a map that cannot be placed. */
  revisionOf(content: string): number | undefined {
    return this.revisionOfId(this.#content.read(content).writeId);
  }

  /** The same, for the id of the write that a map ends with. */
  revisionOfId(writeId: number | undefined): number | undefined {
    if (writeId === undefined) return undefined;
    if (writeId === this.baseWriteId) return this.base.revision;
    return this.#revisionOf.get(writeId);
  }

  #placeAcknowledged(): void {
    for (const write of this.#writes.values()) {
      if (write.outcome !== 'acknowledged' || write.revision === undefined) continue;
      this.#place(write, write.revision);
    }
  }

  /** An unanswered write has the place where most of its readers saw it. */
  #placeUnknown(sightings: readonly Sighting[]): void {
    const votes = new Map<number, Map<number, number>>();
    for (const { revision, content } of sightings) {
      const { writeId } = this.#content.read(content);
      if (writeId === undefined || this.#writes.get(writeId)?.outcome !== 'unknown') continue;
      const counts = votes.get(writeId) ?? new Map<number, number>();
      counts.set(revision, (counts.get(revision) ?? 0) + 1);
      votes.set(writeId, counts);
    }
    for (const write of this.#writes.values()) {
      if (write.outcome !== 'unknown') continue;
      const counts = [...(votes.get(write.id) ?? [])].sort(([, a], [, b]) => b - a);
      const first = counts[0];
      if (first === undefined) this.#unplaced.push(write);
      else this.#place(write, first[0]);
    }
  }

  #place(write: Write, revision: number): void {
    this.#revisionOf.set(write.id, revision);
    this.newest = Math.max(this.newest, revision);
    const other = this.#writeAt.get(revision);
    if (other === undefined) {
      this.#writeAt.set(revision, write);
      return;
    }
    this.#report({
      kind: 'double-revision',
      at: write.finishedAt,
      environment: this.environment,
      subject: `write ${write.id}`,
      story: `Revision ${revision} was given to write ${other.id} (${other.outcome}, on ${other.node}) and to write ${write.id} (${write.outcome}, on ${write.node}). One of them is lost.`,
    });
  }

  #replay(sightings: readonly Sighting[]): void {
    const seen = this.#distinctContents(sightings);
    let possible: Map<string, Possible> = single(this.#content.read(this.base.content).flags);
    let gaps = 0;
    this.#settle(this.base.revision, possible, seen);
    for (let revision = this.base.revision + 1; revision <= this.newest; revision += 1) {
      const write = this.#writeAt.get(revision);
      if (write === undefined) gaps += 1;
      possible = write === undefined ? widen(possible, this.#unplaced) : apply(possible, write);
      if (gaps > this.#unplaced.length) {
        this.#reportUnexplained(revision);
        return;
      }
      possible = this.#settle(revision, possible, seen);
    }
  }

  /** Compares the maps seen of one revision with the possible ones. A match narrows the possible next ones. */
  #settle(
    revision: number,
    possible: Map<string, Possible>,
    seen: ReadonlyMap<number, readonly Sighting[]>,
  ): Map<string, Possible> {
    let settled = possible;
    for (const sighting of seen.get(revision) ?? []) {
      const { flags } = this.#content.read(sighting.content);
      const differences = compare(settled, flags);
      if (differences.length === 0) settled = single(flags);
      else this.#reportMix(revision, sighting, differences);
    }
    return settled;
  }

  /** Each distinct map by the revision of its write, not by the one that its reader expected. */
  #distinctContents(sightings: readonly Sighting[]): ReadonlyMap<number, readonly Sighting[]> {
    const byContent = new Map<string, Sighting>();
    for (const sighting of sightings) {
      if (!byContent.has(sighting.content)) byContent.set(sighting.content, sighting);
    }
    const byRevision = new Map<number, Sighting[]>();
    for (const [content, sighting] of byContent) {
      const revision = this.revisionOf(content);
      if (revision === undefined) continue;
      const list = byRevision.get(revision) ?? [];
      list.push(sighting);
      byRevision.set(revision, list);
    }
    return byRevision;
  }

  #reportMix(revision: number, sighting: Sighting, differences: readonly string[]): void {
    this.#report({
      kind: 'mix',
      at: sighting.at,
      environment: this.environment,
      subject: sighting.subject,
      story: `A map ends with the write of revision ${revision} but is not that revision: ${differences.slice(0, 5).join('; ')}.`,
    });
  }

  #reportUnexplained(revision: number): void {
    this.#report({
      kind: 'unexplained-revision',
      at: 0,
      environment: this.environment,
      subject: `revision ${revision}`,
      story: `Revision ${revision} must exist, since ${this.newest} does, but no write is left that could have made it.`,
    });
  }
}

/** The map in which every flag has exactly the text it has. */
function single(flags: FlagTexts): Map<string, Possible> {
  return new Map(Array.from(flags, ([key, text]) => [key, new Set([text])]));
}

function apply(possible: ReadonlyMap<string, Possible>, write: Write): Map<string, Possible> {
  const next = new Map(possible);
  for (const [key, state] of write.operations) {
    next.set(key, state === null ? ABSENT : new Set([canonicalJson(JSON.parse(state))]));
  }
  return next;
}

/** After a revision of which nothing is known, any unanswered write may have happened. */
function widen(possible: ReadonlyMap<string, Possible>, unknown: readonly Write[]): Map<string, Possible> {
  const next = new Map(possible);
  for (const write of unknown) {
    for (const [key, texts] of apply(new Map(), write)) {
      next.set(key, new Set([...(next.get(key) ?? ABSENT), ...texts]));
    }
  }
  return next;
}

function compare(possible: ReadonlyMap<string, Possible>, flags: FlagTexts): string[] {
  const differences: string[] = [];
  for (const key of new Set([...possible.keys(), ...flags.keys()])) {
    const expected = possible.get(key) ?? ABSENT;
    const actual = flags.get(key) ?? null;
    if (expected.has(actual)) continue;
    differences.push(`${key} is ${show(actual)} and should be ${[...expected].map(show).join(' or ')}`);
  }
  return differences;
}

function show(text: string | null): string {
  if (text === null) return 'absent';
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
