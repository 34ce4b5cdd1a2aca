import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { RightsChanged } from '../../domain/errors.ts';
import { MIGRATIONS } from '../../storage/migrations.ts';
import type { Store } from '../../storage/store.ts';
import { ENGINES, openTestStore, type TestEngine } from '../../storage/test-engines.ts';
import { ADA, changing, seed, writeState } from '../../storage/test-records.ts';
import {
  CLOSED_REFERENCES_SINCE,
  isReferenceClosed,
  removeOldReferences,
  takeReference,
} from './reference-table.ts';

setDefaultTimeout(60_000);

const ON = '{"enabled":true}';
const OFF = '{"enabled":false}';
const reference = 'reference-1';
const place = { actor: ADA.name, reference };
const close = (store: Store) => store.unlogged((tx) => takeReference(tx, place));

describe.each(ENGINES)('a closed reference on $name', (engine: TestEngine) => {
  test('refuses what its actor commits under it, and nothing else', async () => {
    await using home = await openTestStore(engine);
    const { project, environment } = await seed(home.store, ['a', 'b', 'c']);
    const closed = { changes: [], isClosed: true };
    expect(await close(home.store)).toEqual(closed);
    expect(await close(home.store)).toEqual(closed);
    const isClosed = () => isReferenceClosed(home.store, place);
    expect(await isClosed()).toBe(true);

    const late = { ...ADA, reference };
    const change = changing(environment, ['a', ON]);
    await expect(home.store.commit(late, change)).rejects.toBeInstanceOf(RightsChanged);
    // In one group: the others commit.
    const written = await Promise.allSettled(
      [late, { ...ADA, reference: 'reference-2' }, ADA, { ...late, name: 'token:other' }].map(
        (actor, index) =>
          writeState(home.store, {
            project: project.name,
            environment: environment.name,
            actor,
            key: 'abc'[index % 3] ?? '',
            next: () => (index % 2 === 0 ? ON : OFF),
          }),
      ),
    );
    expect(written.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
    expect((await close(home.store)).changes).toEqual([]);
  });

  test('is forgotten after a day, and no sooner', async () => {
    await using home = await openTestStore(engine);
    await seed(home.store);
    await close(home.store);
    const isClosed = () => isReferenceClosed(home.store, place);
    await home.store.unlogged((tx) => removeOldReferences(tx, Date.now()));
    expect(await isClosed()).toBe(true);
    await home.store.unlogged((tx) => removeOldReferences(tx, Date.now() + 86_400_001));
    expect(await isClosed()).toBe(false);
  });

  test('is not closed when its request has made a change', async () => {
    await using home = await openTestStore(engine);
    const { environment } = await seed(home.store);
    const { seq } = await home.store.commit({ ...ADA, reference }, changing(environment, ['checkout', ON]));
    expect(await close(home.store)).toMatchObject({ changes: [{ seq }], isClosed: false });
    await home.store.commit({ ...ADA, reference }, changing(environment, ['checkout', OFF]));
  });

  test('is never both closed and changed under, also by a change that runs meanwhile', async () => {
    await using home = await openTestStore(engine);
    const { environment } = await seed(home.store);
    for (let round = 0; round < 5; round++) {
      const each = { actor: ADA.name, reference: `reference-of-${round}` };
      let closing: ReturnType<typeof takeReference> | undefined;
      const made = await home.store
        .commit({ ...ADA, reference: each.reference }, async (tx) => {
          const result = await changing(environment, ['checkout', round % 2 === 0 ? ON : OFF])(tx);
          closing ??= home.store.unlogged((tx) => takeReference(tx, each));
          // SQLite has one writer, which is this one.
          if (engine.name === 'postgres' && round > 0) await closing;
          return result;
        })
        .then(
          ({ seq }) => seq,
          () => undefined,
        );
      const { changes, isClosed } = (await closing) ?? {};
      expect([made === undefined, changes?.map(({ seq }) => seq)]).toEqual([
        isClosed === true,
        made === undefined ? [] : [made],
      ]);
    }
  });

  test('knows the step of the schema that it came with', () => {
    expect(MIGRATIONS[CLOSED_REFERENCES_SINCE - 1]?.join()).toContain('closed_references');
  });

  test('is not certain for a day after an upgrade, while older nodes may run', async () => {
    await using home = await openTestStore(engine);
    const upgraded = async (hoursAgo: number) => {
      await home.database.query('UPDATE halyard_schema SET applied_at = $1 WHERE version = $2', [
        Date.now() - hoursAgo * 3_600_000,
        CLOSED_REFERENCES_SINCE,
      ]);
      return (await close(home.store)).isClosed;
    };
    await home.database.query('UPDATE halyard_schema SET applied_at = 0 WHERE version = 1');
    expect([await upgraded(23), await upgraded(25)]).toEqual([false, true]);
  });
});
