import { CHANGE_EVENT, CHANGES_QUERY, type MapChange } from '@halyard/protocol';
import type { SseFrame } from '@halyard/testing';
import type { Frame } from './checker/history.ts';
import type { FleetNode } from './fleet-node.ts';
import { type RecordedStream, recordStream } from './reader.ts';
import type { Place, World } from './world.ts';

/** The map that a reader of changes makes of them. It believes every event: what is wrong is for the checker to say. */
class ChangedMap {
  #flags = new Map<string, unknown>();

  /** The map after an event. A frame without a name is a whole map, as servers send them that know no changes. */
  take({ data, fields }: SseFrame): Omit<Frame, 'at'> {
    const isChange = fields.some(([name, value]) => name === 'event' && value === CHANGE_EVENT);
    if (!isChange) return { content: data };

    const { from, to, set, removed }: MapChange = JSON.parse(data);
    if (from === null) this.#flags = new Map();
    for (const key of removed) this.#flags.delete(key);
    for (const [key, state] of Object.entries(set)) this.#flags.set(key, state);

    // In one order, so that readers with the same flags share one text.
    const sorted = [...this.#flags].sort(([a], [b]) => (a < b ? -1 : 1));
    return { content: JSON.stringify(Object.fromEntries(sorted)), change: { from, to } };
  }
}

/** As `openRecorded`, for a stream of changes: its frames are the maps that its reader makes of them. (Spec: S26) */
export async function openRecordedChanges(
  world: World,
  readerName: string,
  place: Place,
  node: FleetNode,
): Promise<RecordedStream | undefined> {
  const map = new ChangedMap();
  return await recordStream(world, readerName, place, {
    node,
    keyId: `${place.project}-key`,
    path: `/v1/stream?env=${place.environment}&${CHANGES_QUERY}`,
    headers: { 'X-Service-Key': place.key },
    begin: (opening) => world.recorder.openSession(opening),
    receive: (record, frame) => record.frame({ at: frame.at, ...map.take(frame) }),
  });
}
