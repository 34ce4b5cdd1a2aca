import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { FlagReads } from '@halyard/protocol';
import { HOUR_MS } from '../../domain/clock.ts';
import { USAGE_RETENTION } from '../../domain/usage.ts';
import { SqlStore } from '../../storage/store.ts';
import { ENGINES, openTestStore, type TestStore } from '../../storage/test-engines.ts';
import { ADA, makeEnvironment, makeFlag, makeProject } from '../../storage/test-records.ts';
import { insertEnvironment, removeEnvironment } from '../environments/environment-table.ts';
import { insertFlags, removeFlag } from '../flags/flag-table.ts';
import { insertProject, removeProject } from '../projects/project-table.ts';
import { readHours, readLastReads, SqlUsageStore } from './usage-table.ts';

setDefaultTimeout(60_000);

const NOON = 1_790_000_000_000 - (1_790_000_000_000 % HOUR_MS);
const LATER = NOON + 2 * HOUR_MS;

for (const engine of ENGINES) {
  describe(`SqlUsageStore on ${engine.name}`, () => {
    let home: TestStore;
    beforeAll(async () => {
      home = await openTestStore(engine);
    });
    afterAll(async () => home[Symbol.asyncDispose]());

    async function makeWorld(name: string) {
      const project = makeProject(name);
      const environment = { ...makeEnvironment(project), createdAt: 0 };
      await home.store.commit(ADA, async (tx) => {
        await insertProject(tx, project);
        await insertEnvironment(tx, environment);
        await insertFlags(
          tx,
          ['a', 'b'].map((key) => makeFlag(project, key)),
        );
      });
      return { project, environment };
    }

    function count(environmentId: string, ...flags: FlagReads[]) {
      return [{ environmentId, flags }];
    }

    function hoursOf(projectId: string, flagKey: string, { since = 0, now = LATER } = {}) {
      return readHours(home.store, { projectId, flagKey }, { since, now });
    }

    function lastReadsOf(projectId: string, now = LATER) {
      return readLastReads(home.store, projectId, now);
    }

    test('reads of an hour are added up by outcome, also by two nodes at once', async () => {
      const { project, environment } = await makeWorld('added');
      const { id } = environment;
      const stores = [new SqlUsageStore(home.database), new SqlUsageStore(home.database)];
      await Promise.all(stores.map((store) => store.add(count(id, ['b', 1, 0], ['a', 2, 3]), NOON + 5)));
      await stores[0]?.add(count(id, ['a', 1, 0]), NOON + HOUR_MS);
      const at = { environmentId: id };
      expect(
        (await hoursOf(project.id, 'a')).toSorted((x, y) => x.hour - y.hour || y.reads - x.reads),
      ).toEqual([
        { ...at, hour: NOON, outcome: 'off', reads: 6 },
        { ...at, hour: NOON, outcome: 'on', reads: 4 },
        { ...at, hour: NOON + HOUR_MS, outcome: 'on', reads: 1 },
      ]);
      expect(await hoursOf(project.id, 'a', { since: NOON + 1 })).toHaveLength(1);
      const lastReads = await lastReadsOf(project.id);
      expect(lastReads.toSorted((x, y) => (x.flagKey < y.flagKey ? -1 : 1))).toEqual([
        { ...at, flagKey: 'a', hour: NOON + HOUR_MS },
        { ...at, flagKey: 'b', hour: NOON },
      ]);
    });

    test('reads that a wrong clock dated in the future do not count, and the next read corrects the date', async () => {
      const { project, environment } = await makeWorld('ahead');
      const { id } = environment;
      const store = new SqlUsageStore(home.database);
      const year = 365 * 24 * HOUR_MS;
      await store.add(count(id, ['a', 1, 0], ['b', 1, 0]), NOON + year);
      expect([await lastReadsOf(project.id, NOON), await hoursOf(project.id, 'a', { now: NOON })]).toEqual([
        [],
        [],
      ]);
      await store.add(count(id, ['a', 1, 0]), NOON);
      const corrected = [{ environmentId: id, flagKey: 'a', hour: NOON }];
      expect(await lastReadsOf(project.id, NOON)).toEqual(corrected);
      // The clock of another node is an hour behind, at most.
      await store.add(count(id, ['a', 1, 0]), NOON - 1);
      expect(await lastReadsOf(project.id, NOON)).toEqual(corrected);
    });

    test('a count that is too large stays at the largest exact number, and keeps no other from being stored', async () => {
      const { project, environment } = await makeWorld('huge');
      const store = new SqlUsageStore(home.database);
      const most = Number.MAX_SAFE_INTEGER;
      await store.add(count(environment.id, ['a', most - 1, 2 * most], ['b', 1, 0]), NOON);
      await store.add(count(environment.id, ['a', 5, most], ['b', 1, 0]), NOON);
      const reads = async (key: string) =>
        Object.fromEntries((await hoursOf(project.id, key)).map((row) => [row.outcome, row.reads]));
      expect([await reads('a'), await reads('b')]).toEqual([{ on: most, off: most }, { on: 2 }]);
    });

    test('hours that are too old or too many are removed, and the last reads stay', async () => {
      const { project, environment } = await makeWorld('pruned');
      await home.database.query('DELETE FROM flag_usage');
      const store = new SqlUsageStore(home.database, 3);
      const days = USAGE_RETENTION.days * 24 * HOUR_MS;
      for (const hour of [NOON - days - HOUR_MS, NOON - days, NOON])
        await store.add(count(environment.id, ['a', 1, 1]), hour);
      await new SqlUsageStore(home.database).prune(NOON);
      const hours = async () => [...new Set((await hoursOf(project.id, 'a')).map(({ hour }) => hour))];
      expect(await hours()).toEqual([NOON - days, NOON]);
      await store.prune(NOON);
      expect(await hours()).toEqual([NOON]);
      const lastReads = () => home.store.read((db) => readLastReads(db, project.id, LATER, 'a'));
      expect(await lastReads()).toMatchObject([{ hour: NOON }]);
      await home.store.commit(ADA, (tx) => removeFlag(tx, makeFlag(project, 'a')));
      expect(await lastReads()).toEqual([]);
    });

    test('an environment that is made again has none of the reads of the one before it', async () => {
      const { project, environment } = await makeWorld('again');
      const { id } = environment;
      const store = new SqlUsageStore(home.database);
      const made = { ...environment, createdAt: NOON + 30 * 60_000 };
      const clocked = new SqlStore(home.database, { now: () => made.createdAt });
      await store.add(count(id, ['a', 1, 0]), NOON - 5 * HOUR_MS);
      await store.add(count(id, ['a', 1, 0]), NOON);
      await clocked.commit(ADA, (tx) => removeEnvironment(tx, environment));
      // What a node had counted until then comes late.
      await store.add(count(id, ['a', 1, 0]), NOON);
      await clocked.commit(ADA, (tx) => insertEnvironment(tx, made));
      expect([await hoursOf(project.id, 'a'), await lastReadsOf(project.id)]).toEqual([[], []]);
      await store.add(count(id, ['a', 4, 0]), NOON);
      expect(await hoursOf(project.id, 'a')).toMatchObject([{ hour: NOON, reads: 4 }]);
    });

    test('what belongs to a deleted environment or project is not read, and its last reads go', async () => {
      const [first, second] = [await makeWorld('first'), await makeWorld('second')];
      const store = new SqlUsageStore(home.database);
      for (const { environment } of [first, second])
        await store.add(count(environment.id, ['a', 1, 0]), NOON);
      await home.store.commit(ADA, async (tx) => {
        await removeEnvironment(tx, first.environment);
        await removeProject(tx, second.project);
      });
      expect(await hoursOf(first.project.id, 'a')).toEqual([]);
      const left = await home.database.query(
        'SELECT 1 FROM flag_last_reads WHERE environment_id IN ($1, $2)',
        [first.environment.id, second.environment.id],
      );
      expect(left).toEqual([]);
    });
  });
}
