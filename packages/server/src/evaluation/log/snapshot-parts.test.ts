import { expect, test } from 'bun:test';
import type { LogRow } from '../../domain/change-log.ts';
import { Catalog, type ServedContents } from '../catalog/catalog.ts';
import { MessageReader } from './framing.ts';
import { contentsIn } from './scope.ts';
import { encodeSnapshot, SnapshotBuilder } from './snapshot-parts.ts';

const CURSOR = { epoch: 'e', seq: 1, changeId: 'c' };
const ON = '{"enabled":true}';
const OFF = '{"enabled":false}';

/** Two projects with two environments each, and a key to both of them. */
function catalogOf(states: number) {
  const ignored = () => {};
  const catalog = new Catalog({
    changed: ignored,
    environmentGone: ignored,
    keyGone: ignored,
    malformed: ignored,
  });
  const places = ['p', 'q'].flatMap((projectId) =>
    ['production', 'staging'].map((name) => ({ id: `${projectId}-${name}`, projectId, name, revision: 7 })),
  );
  catalog.load({
    projects: ['p', 'q'].map((id) => ({ id, name: `name of ${id}` })),
    environments: places,
    states: places.flatMap(({ id }) =>
      Array.from({ length: states }, (_, n) => ({ environmentId: id, flagKey: `flag-${n}`, state: ON })),
    ),
    keys: ['p', 'q'].map((projectId, n) => ({
      id: `key of ${projectId}`,
      projectId,
      digest: String(n).repeat(64),
      environments: ['production', 'staging'],
      expiresAt: null,
    })),
    relays: [{ id: 'r', digest: '9'.repeat(64) }],
  });
  return catalog;
}

function change(environmentId: string, revision: number, state: string | null): LogRow {
  const payload = JSON.stringify([['flag-0', state]]);
  const place = { projectId: environmentId.slice(0, 1), environmentId, revision };
  return { ...place, seq: 2, changeId: 'd', kind: 'flags.changed', payload, actor: '', at: 1 };
}

function read(pieces: Iterable<Uint8Array>) {
  const builder = new SnapshotBuilder();
  const messages = new MessageReader();
  for (const piece of pieces)
    for (const message of messages.read(piece)) {
      if (message.type === 'snapshot') builder.add(message);
      if (message.type === 'snapshot-end') return builder.finish(message);
    }
  throw new Error('the snapshot has no end');
}

function statesIn(contents: ServedContents, environmentId: string) {
  const { states } = read(encodeSnapshot(CURSOR, contents));
  return states.filter((state) => state.environmentId === environmentId).map(({ state }) => state);
}

test.each([0, 3, 5_000])('a snapshot of environments with %d flags is what the catalog serves', (count) => {
  const catalog = catalogOf(count);
  const snapshot = read(encodeSnapshot(CURSOR, catalog.contents()));
  expect(snapshot.states).toHaveLength(4 * count);
  const { cursor, ...contents } = snapshot;
  const again = catalogOf(0);
  again.load(contents);
  const words = (each: Catalog) => {
    const { environments, keys, ...rest } = each.contents();
    return {
      ...rest,
      environments: environments.map((it) => [it, it.states()]),
      keys: keys.map((it) => [...it]),
    };
  };
  expect(JSON.stringify(words(again))).toBe(JSON.stringify(words(catalog)));
  expect(cursor).toEqual(CURSOR);
});

test('what a snapshot was taken of does not change while its bytes are made', () => {
  const catalog = catalogOf(1);
  const before = catalog.contents();
  catalog.apply(change('p-production', 8, OFF));
  catalog.apply(change('p-production', 9, null));
  const after = catalog.contents();
  expect([statesIn(before, 'p-production'), statesIn(after, 'p-production')]).toEqual([[ON], []]);
});

test('an environment and the keys of a project are one object for all scopes, until they change', () => {
  const catalog = catalogOf(1);
  const all = catalog.contents();
  const scope = { environments: new Set(['production']) };
  const some = contentsIn(scope, catalog.contents());
  expect(some.environments).toEqual(all.environments.filter(({ name }) => name === 'production'));
  for (const environment of some.environments) expect(all.environments).toContain(environment);
  // Keys are narrowed once for all scopes with the same environments.
  expect(some.keys.flatMap((keys) => [...keys]).map(({ environments }) => environments)).toEqual([
    ['production'],
    ['production'],
  ]);
  const projects = new Set(['q']);
  expect(contentsIn({ ...scope, projects }, catalog.contents()).keys).toEqual([some.keys[1] as never]);

  catalog.apply(change('q-production', 8, OFF));
  const later = catalog.contents();
  const isNew = later.environments.map((environment) => !all.environments.includes(environment));
  expect(isNew).toEqual([false, false, true, false]);
});
