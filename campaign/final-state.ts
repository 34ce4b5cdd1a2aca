import { Management } from '@halyard/testing';
import { contentOf } from './rest-reader.ts';
import type { World } from './world.ts';
import { NOTE_PREFIX } from './writer.ts';

/** What each node says at the end: over REST from its memory, over the management API from the database. */
export async function recordFinals({ fleet, places, recorder }: World): Promise<void> {
  for (const node of fleet.nodes) {
    const management = new Management({ url: node.url, adminToken: fleet.adminToken });
    for (const place of places) {
      const answer = await fetch(`${node.url}/v1/flags?env=${place.environment}`, {
        headers: { 'X-Service-Key': place.key },
      });
      const common = { environment: place.name };
      recorder.final({ ...common, source: `${node.name} (REST)`, ...contentOf(answer, await answer.text()) });
      const { revision, flags } = await management.states(place.project, place.environment);
      const content = JSON.stringify(Object.fromEntries(flags.map(({ key, state }) => [key, state])));
      recorder.final({ ...common, source: `${node.name} (database)`, revision, content });
    }
  }
}

/** How many audit entries are asked for at once. */
const PAGE = 500;

/** What the audit log says was committed. */
export async function recordAudit({ fleet, recorder }: World): Promise<void> {
  const [node] = fleet.nodes;
  if (node === undefined) throw new Error('a fleet has a node');
  const management = new Management({ url: node.url, adminToken: fleet.adminToken });
  let before: number | undefined;
  for (;;) {
    const query = before === undefined ? '' : `&before=${before}`;
    // The shape is the contract of the management API.
    const { entries } = (await management.request('GET', `/api/audit?limit=${PAGE}${query}`)) as {
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
