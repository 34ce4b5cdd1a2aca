import type { Read } from './checker/history.ts';
import { now } from './clock.ts';
import type { FleetNode } from './fleet-node.ts';
import type { Place, World } from './world.ts';

/** Reads whole maps over REST until `signal` aborts, through random nodes, one every `everyMs`. */
export async function runRestReader(world: World, everyMs: number, signal: AbortSignal): Promise<void> {
  const random = world.random.fork();
  while (!signal.aborted) {
    const due = now() + everyMs;
    await readRecorded(world, random.pick(world.places), random.pick(world.fleet.nodes));
    await Bun.sleep(Math.max(0, due - now()));
  }
}

/** One REST read, recorded unless no answer came. */
export async function readRecorded(
  world: World,
  place: Place,
  node: FleetNode,
  key: { readonly id: string; readonly text: string } = { id: `${place.project}-key`, text: place.key },
): Promise<void> {
  const requestedAt = now();
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(`${node.url}/v1/flags?env=${place.environment}`, {
      headers: { 'X-Service-Key': key.text },
      signal: AbortSignal.timeout(10_000),
    });
    text = await answer.text();
  } catch {
    // The node is down or frozen: no answer, so nothing that could be right or wrong.
    return;
  }
  const granted = answer.status === 200 ? contentOf(answer, text) : {};
  world.recorder.read({
    kind: 'read',
    node: node.name,
    environment: place.name,
    key: key.id,
    requestedAt,
    answeredAt: now(),
    status: answer.status,
    ...node.processOf(answer.headers),
    ...granted,
    ...freshnessOf(answer.headers),
  });
}

/** What the answer says of its age. */
export function freshnessOf(headers: Headers): Pick<Read, 'freshness' | 'ageSeconds'> {
  const age = headers.get('x-flags-stale');
  return age === null ? { freshness: 'current' } : { freshness: 'stale', ageSeconds: Number(age) };
}

/** The map inside the answer, as JSON text, and its revision. */
export function contentOf(answer: Response, text: string): { revision: number; content: string } {
  // A 200 of this route has this shape by specification; another one is reported by the checker as no flag map.
  const { flags } = JSON.parse(text) as { flags: unknown };
  return {
    revision: Number(answer.headers.get('x-flags-revision') ?? Number.NaN),
    content: JSON.stringify(flags ?? null),
  };
}
