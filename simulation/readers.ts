import { CHANGE_EVENT, CHANGES_QUERY, type MapChange } from '@halyard/protocol';
import type { Chance } from './chance.ts';
import type { Asked, Checks, Shown } from './checks.ts';
import type { Place } from './fleet.ts';
import type { SimulatedFetch } from './globals.ts';
import type { Kernel, Owner } from './kernel.ts';
import { createSseParser } from './sse.ts';

/** What readers ask for. */
export interface Wish {
  readonly projectId: string;
  readonly environmentId: string;
  readonly environment: string;
  readonly key: string;
}

/** What the readers of one place share. */
export interface ReaderParts {
  readonly kernel: Kernel;
  readonly chance: Chance;
  readonly checks: Checks;
  readonly fetch: SimulatedFetch;
  readonly place: Place;
  /** Chooses what to ask for next. */
  readonly wish: () => Wish;
  readonly mayLack: (place: Place, wish: Wish) => boolean;
  /** The process that keeps its last known flags. */
  readonly keeperOf: (place: Place) => Owner;
  /** Whether nothing has kept the place from its database since it began. */
  readonly isUndisturbed: (place: Place) => boolean;
  /** How long a change of a time may take to a reader of the place. */
  readonly withinMs: (place: Place, writtenAt: number) => number;
  readonly count: (what: string) => void;
}

/** Reads whole maps, again and again. */
export async function readAgain(parts: ReaderParts): Promise<void> {
  const { kernel, chance, place } = parts;
  for (;;) {
    await pause(kernel, chance.between(100, 500));
    if (place.isListening) await readOnce(parts);
  }
}

/** Reads one whole map. */
export async function readOnce(parts: ReaderParts): Promise<void> {
  const { checks, count } = parts;
  const wish = parts.wish();
  const asked = askedOf(parts, wish);
  try {
    const answer = await ask(parts, wish, '/v1/flags');
    count(`read ${answer.status}${answer.headers.has('x-flags-stale') ? ' stale' : ''}`);
    if (answer.status === 200) {
      const { flags } = (await answer.json()) as { flags: Shown['flags'] };
      checks.answered(asked, { ...factsOf(answer), flags });
    } else checks.refused(asked, answer.status);
  } catch {
    // The process has died, or the connection was reset: no answer, so nothing that could be wrong.
  }
}

/** The stream of one reader. */
export interface OpenStream {
  readonly asked: Asked;
  /** The revision of its last frame. */
  revision: number;
}

/** What a stream is asked for: whole maps, or changes, of which its reader makes the same maps. */
export type StreamForm = 'maps' | 'changes';

/** Keeps a stream open. `opened` gets it, and `undefined` when it has ended. */
export async function followAgain(
  parts: ReaderParts,
  form: StreamForm,
  opened: (stream: OpenStream | undefined) => void,
): Promise<void> {
  const { kernel, chance, place } = parts;
  for (;;) {
    await pause(kernel, chance.between(50, 1_000));
    if (!place.isListening) continue;
    try {
      await follow(parts, form, opened);
    } catch {
      // The process has died, or the connection was reset.
    }
    opened(undefined);
  }
}

async function follow(
  parts: ReaderParts,
  form: StreamForm,
  opened: (stream: OpenStream) => void,
): Promise<void> {
  const { checks, count } = parts;
  const wish = parts.wish();
  const asked = askedOf(parts, wish);

  const answer = await ask(parts, wish, '/v1/stream', form === 'changes' ? `&${CHANGES_QUERY}` : '');
  count(`stream ${answer.status}`);
  if (answer.status !== 200) {
    await answer.body?.cancel();
    checks.refused(asked, answer.status);
    return;
  }

  const { revision: first } = factsOf(answer);
  const stream = { asked, revision: first - 1 };
  const map = new ReadMap((story) => checks.broken('frame', asked.node, `${asked.node} ${story}`));
  const parser = createSseParser((data, name) => {
    stream.revision++;
    const flags = form === 'maps' ? map.whole(data, name) : map.changed(data, name, stream.revision);
    count(form === 'maps' ? 'frame' : 'change');
    if (stream.revision === first) {
      checks.answered(asked, { revision: first, ageSeconds: undefined, flags });
      opened(stream);
    } else checks.frame(asked, stream.revision, flags, (writtenAt) => parts.withinMs(parts.place, writtenAt));
  });

  const reader = answer.body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || value === undefined) return;
    parser(value);
  }
}

/** What the reader of one stream has. It believes every event, and says what is wrong with it. */
class ReadMap {
  readonly #broken: (story: string) => void;
  #flags = new Map<string, Shown['flags'][string]>();
  #revision: number | null = null;

  constructor(broken: (story: string) => void) {
    this.#broken = broken;
  }

  /** A frame of whole maps. */
  whole(data: string, name: string | undefined): Shown['flags'] {
    if (name !== undefined) this.#broken(`sent a frame with the name ${name}`);
    return JSON.parse(data);
  }

  /** An event of changes, which must make revision `expected` of what the reader has. (Spec: S26.2, S26.3) */
  changed(data: string, name: string | undefined, expected: number): Shown['flags'] {
    const { from, to, set, removed } = JSON.parse(data) as MapChange;
    if (name !== CHANGE_EVENT) this.#broken(`sent a change with the name ${name}`);
    if (to !== expected || (from !== null && from !== this.#revision))
      this.#broken(`sent a change from ${from} to ${to} after ${this.#revision}; ${expected} is next`);

    if (from === null) this.#flags = new Map();
    for (const key of removed)
      if (!this.#flags.delete(key)) this.#broken(`removed ${key}, which the reader did not have`);
    for (const [key, state] of Object.entries(set)) this.#flags.set(key, state);
    this.#revision = to;
    return Object.fromEntries(this.#flags);
  }
}

function ask(
  { fetch, place }: ReaderParts,
  { environment, key }: Wish,
  path: string,
  more = '',
): Promise<Response> {
  const headers = { 'X-Service-Key': key };
  return fetch(`http://${place.name}${path}?env=${environment}${more}`, { headers });
}

function askedOf({ kernel, place, mayLack, keeperOf, isUndisturbed }: ReaderParts, wish: Wish): Asked {
  const { owner } = place;
  const mayBeWithout = mayLack(place, wish);
  return {
    node: owner.name,
    place: place.name,
    owner,
    ...wish,
    requestedAt: kernel.now,
    keeper: keeperOf(place),
    mayLack: mayBeWithout,
    isUndisturbed: isUndisturbed(place),
  };
}

function factsOf({ headers }: Response): Pick<Shown, 'revision' | 'ageSeconds'> {
  const age = headers.get('x-flags-stale');
  return {
    revision: Number(headers.get('x-flags-revision')),
    ageSeconds: age === null ? undefined : Number(age),
  };
}

function pause(kernel: Kernel, ms: number): Promise<void> {
  return new Promise((resolve) => void kernel.after(ms, resolve));
}
