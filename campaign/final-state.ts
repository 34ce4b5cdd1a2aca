import { Management } from '@halyard/testing';
import type { Final } from './checker/history.ts';
import { type FleetNode, managersOf } from './fleet-node.ts';
import { readPublished } from './published-reader.ts';
import { contentOf } from './rest-reader.ts';
import type { Place, World } from './world.ts';
import { NOTE_PREFIX } from './writer.ts';

/** The answers of each node at the end: over REST from its memory, over the management API from the database. */
export async function recordFinals(world: World): Promise<void> {
  if (world.fleet.storage !== undefined)
    for (const place of world.places)
      await recordFinal(world, place, 'the storage', async () => readPublished(world, place));
  for (const node of world.fleet.nodes) {
    for (const place of world.places) {
      await recordFinal(world, place, `${node.name} (REST)`, () => readOverRest(node, place));
      if (!node.remembers)
        await recordFinal(world, place, `${node.name} (database)`, () =>
          readFromDatabase(world, node, place),
        );
    }
  }
}

type State = Pick<Final, 'revision' | 'content'>;

async function recordFinal(
  world: World,
  place: Place,
  source: string,
  ask: () => Promise<State>,
): Promise<void> {
  const state = await ask().catch(
    // A node that does not answer in the end has not converged: it has no map, and the checker reports it.
    (error: unknown): State => ({ revision: 0, content: `no answer: ${error}` }),
  );
  world.recorder.final({ source, environment: place.name, ...state });
}

async function readOverRest(node: FleetNode, place: Place): Promise<State> {
  const answer = await fetch(`${node.url}/v1/flags?env=${place.environment}`, {
    headers: { 'X-Service-Key': place.key },
  });
  return contentOf(answer, await answer.text());
}

async function readFromDatabase(world: World, node: FleetNode, place: Place): Promise<State> {
  const management = new Management({ url: node.url, adminToken: world.fleet.adminToken });
  const { revision, flags } = await management.states(place.project, place.environment);
  return {
    revision,
    content: JSON.stringify(Object.fromEntries(flags.map(({ key, state }) => [key, state]))),
  };
}

/** How many audit entries are asked for at once. */
const PAGE = 500;

/** The committed changes in the audit log. */
export async function recordAudit({ fleet, recorder, prepare }: World): Promise<void> {
  const node = managersOf(fleet).find(({ crashes }) => crashes.length === 0);
  if (node === undefined) throw new Error('every node has crashed');
  const management = new Management({ url: node.url, adminToken: fleet.adminToken });
  let before: number | undefined;
  for (;;) {
    const query = before === undefined ? '' : `&before=${before}`;
    // The shape is the contract of the management API.
    const { entries } = (await prepare('the audit log', () =>
      management.request('GET', `/api/audit?limit=${PAGE}${query}`),
    )) as {
      entries: readonly { seq: number; environment?: string; note?: string }[];
    };
    for (const { seq, environment, note } of entries) {
      // Entries without an environment tell that a flag came to be in the project, which is no change of a map.
      if (environment !== undefined && note?.startsWith(NOTE_PREFIX))
        recorder.audited({ id: Number(note.slice(NOTE_PREFIX.length)), seq });
    }
    const last = entries.at(-1)?.seq;
    if (last === undefined || entries.length < PAGE) return;
    // The page may end inside a change of several entries: ask for its last one again.
    before = last + 1;
  }
}
