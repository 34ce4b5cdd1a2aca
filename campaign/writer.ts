import type { Chance } from '../simulation/chance.ts';
import type { Write } from './checker/history.ts';
import { now } from './clock.ts';
import { type FleetNode, managersOf } from './fleet-node.ts';
import type { World } from './world.ts';
import { composeWrite, type WriteRequest } from './write-request.ts';

/** Longest a writer waits for an answer. Longer than any fault lasts. */
const ANSWER_MS = 20_000;

/** The beginning of a write's note; its id follows. */
export const NOTE_PREFIX = 'campaign write ';

/** Gives each write an id of its own. */
export class WriteIds {
  #last = 0;

  next(): number {
    this.#last += 1;
    return this.#last;
  }
}

/**
 * Writes until `signal` aborts: one write after another, each through a random node to a random environment, at most
 * one every `everyMs`. It records the answers and never repeats a write.
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

async function writeOnce(world: World, id: number, random: Chance): Promise<void> {
  const node = random.pick(managersOf(world.fleet));
  const place = random.pick(world.places);
  const request = await composeWrite(world, place, id, random);
  const startedAt = now();
  const answer = await send(node, world.fleet.adminToken, { ...request, id });
  world.recorder.write({
    id,
    node: node.name,
    environment: place.name,
    operations: request.operations,
    startedAt,
    finishedAt: now(),
    ...answer,
    ...(request.expected === undefined ? {} : { expected: request.expected }),
  });
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
      // Bun repeats a PUT on its own when a connection that it kept turns out to be closed: on a node with several
      // processes the second one may be refused for what the first one did.
      keepalive: false,
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
