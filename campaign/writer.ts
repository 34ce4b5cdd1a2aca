import type { Operation, Write } from './checker/history.ts';
import { now } from './clock.ts';
import type { FleetNode } from './fleet.ts';
import type { Random } from './random.ts';
import { COUNTER, type Place, type World } from './world.ts';

/** Longest a writer waits for an answer. Longer than any fault lasts. */
const ANSWER_MS = 20_000;

/** What the note of a write begins with; its id follows. */
export const NOTE_PREFIX = 'campaign write ';

/** Gives each write an id of its own. */
export class WriteIds {
  #last = 0;

  next(): number {
    this.#last += 1;
    return this.#last;
  }
}

/** How a write is sent. */
interface WriteRequest {
  readonly method: 'PUT' | 'POST';
  readonly path: string;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly operations: readonly Operation[];
}

/**
 * Writes until `signal` aborts: one write after another, each through a random node to a random environment, at most
 * one every `everyMs`. What it was told is recorded; it never asks twice.
 */
export async function runWriter(
  world: World,
  ids: WriteIds,
  everyMs: number,
  signal: AbortSignal,
): Promise<void> {
  const random = world.random.fork();
  while (!signal.aborted) {
    const due = now() + everyMs;
    await writeOnce(world, ids.next(), random);
    await Bun.sleep(Math.max(0, due - now()));
  }
}

async function writeOnce(world: World, id: number, random: Random): Promise<void> {
  const node = random.pick(world.fleet.nodes);
  const place = random.pick(world.places);
  const request = composeWrite(place, id, random);
  const startedAt = now();
  const told = await send(node, world.fleet.adminToken, { ...request, id });
  world.recorder.write({
    ...{ id, node: node.name, environment: place.name, operations: request.operations, startedAt },
    ...{ finishedAt: now(), ...told },
  });
}

/** One of the shapes a change can have: one flag, flags that change together, a flag that comes or goes. */
function composeWrite(place: Place, id: number, random: Random): WriteRequest {
  const environment = `/api/projects/${place.project}/environments/${place.environment}`;
  const state = { enabled: id % 2 === 0, value: id };
  const shape = random.pick(['put', 'conditional', 'pair', 'pair', 'create', 'delete'] as const);
  if (shape === 'put' || shape === 'conditional') {
    return {
      ...{ method: 'PUT', path: `${environment}/flags/${COUNTER}`, body: state },
      // A revision of long ago: must be refused, and must then never show.
      headers: shape === 'conditional' && random.next() < 0.3 ? { 'If-Match': '"1"' } : {},
      operations: [[COUNTER, JSON.stringify(state)]],
    };
  }
  const passing = `passing-${Math.floor(random.between(0, 5))}`;
  const changes = [{ key: COUNTER, state }, ...(shape === 'pair' ? pairOf(state) : [])];
  const last = { key: passing, state: shape === 'delete' ? null : state };
  const all = shape === 'pair' ? changes : [...changes, last];
  return {
    ...{ method: 'POST', path: `${environment}/changes`, body: { changes: all }, headers: {} },
    operations: all.map(
      ({ key, state: next }): Operation => [key, next === null ? null : JSON.stringify(next)],
    ),
  };
}

function pairOf(state: object): { key: string; state: object }[] {
  return [
    { key: 'left', state },
    { key: 'right', state },
  ];
}

async function send(
  node: FleetNode,
  adminToken: string,
  request: WriteRequest & { readonly id: number },
): Promise<Pick<Write, 'outcome' | 'revision'>> {
  try {
    const answer = await fetch(`${node.url}${request.path}`, {
      method: request.method,
      headers: {
        authorization: `Bearer ${adminToken}`,
        'content-type': 'application/json',
        // Comes back in the audit log, which is then a second witness.
        'x-change-note': `${NOTE_PREFIX}${request.id}`,
        ...request.headers,
      },
      body: JSON.stringify(request.body),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const body: unknown = await answer.json();
    if (answer.ok) return { outcome: 'acknowledged', revision: revisionIn(body) };
    return { outcome: answer.status < 500 ? 'refused' : 'unknown' };
  } catch {
    // No answer, or half of one: the writer cannot know what became of its change, and says so.
    return { outcome: 'unknown' };
  }
}

function revisionIn(body: unknown): number {
  if (typeof body === 'object' && body !== null) {
    if ('environmentRevision' in body) return Number(body.environmentRevision);
    if ('revision' in body) return Number(body.revision);
  }
  throw new Error('an acknowledgement names the revision');
}
