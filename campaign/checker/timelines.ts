import { ContentReader } from './content.ts';
import type { History } from './history.ts';
import { type Sighting, Timeline } from './timeline.ts';
import type { Report, ViolationKind } from './violation.ts';

/** The reconstructed timelines of all environments, and which map belongs to which. */
export class Timelines {
  readonly #timelines = new Map<string, Timeline>();
  readonly #content: ContentReader;
  readonly #homes = new Map<number, string>();

  constructor(history: History, report: Report) {
    this.#content = new ContentReader(history.counterFlag);
    const sightings = gatherSightings(history);
    for (const environment of history.environments.keys()) {
      const timeline = new Timeline(environment, history, this.#content, report);
      timeline.reconstruct(sightings.get(environment) ?? []);
      this.#timelines.set(environment, timeline);
      if (timeline.baseWriteId !== undefined) this.#homes.set(timeline.baseWriteId, environment);
    }
    for (const write of history.writes) this.#homes.set(write.id, write.environment);
  }

  /** The timeline of a known environment. */
  of(environment: string): Timeline {
    const timeline = this.#timelines.get(environment);
    if (timeline === undefined) throw new Error(`the history lacks the base of ${environment}`);
    return timeline;
  }

  /** Every timeline. */
  all(): Iterable<Timeline> {
    return this.#timelines.values();
  }

  /**
   * The place of a map received for `environment` in its timeline, or its fault.
   */
  place(environment: string, content: string): Placed {
    const { writeId } = this.#content.read(content);
    return writeId === undefined
      ? { kind: 'mix', story: `It is no flag map with a counter: ${content.slice(0, 120)}` }
      : this.placeWrite(environment, writeId);
  }

  /** The place of the write that a map ends with, or its fault. */
  placeWrite(environment: string, writeId: number): Placed {
    const revision = this.of(environment).revisionOfId(writeId);
    if (revision !== undefined) return { revision };
    const home = this.#homes.get(writeId);
    if (home === undefined) return { kind: 'phantom', story: `Write ${writeId} was never sent.` };
    if (home !== environment) return { kind: 'foreign', story: `Write ${writeId} was made in ${home}.` };
    return { kind: 'phantom', story: `Write ${writeId} was refused and shows all the same.` };
  }
}

/** A place in a timeline, or the reason why it is missing. */
export type Placed =
  | { readonly revision: number }
  | { readonly kind: Extract<ViolationKind, 'mix' | 'phantom' | 'foreign'>; readonly story: string };

function gatherSightings(history: History): ReadonlyMap<string, readonly Sighting[]> {
  const sightings = new Map<string, Sighting[]>();
  const add = (environment: string, sighting: Sighting): void => {
    const list = sightings.get(environment) ?? [];
    list.push(sighting);
    sightings.set(environment, list);
  };
  for (const stream of history.streams) {
    for (const [index, { content, at }] of stream.frames.entries()) {
      add(stream.environment, { revision: stream.revision + index, content, at, subject: stream.id });
    }
  }
  for (const { environment, revision, content, answeredAt, node } of history.reads) {
    if (revision === undefined || content === undefined) continue;
    add(environment, { revision, content, at: answeredAt, subject: `a read on ${node}` });
  }
  for (const { environment, revision, content, source } of history.finals) {
    add(environment, { revision, content, at: history.endedAt, subject: source });
  }
  return sightings;
}
