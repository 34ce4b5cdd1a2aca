import { expect, setDefaultTimeout, test } from 'bun:test';
import { statSync } from 'node:fs';
import { ENGINES, openTestStore } from '../test-engines.ts';
import { ADA, seed, writeState } from '../test-records.ts';

setDefaultTimeout(60_000);

/** The head of SQLite's write-ahead log, and a page in it with its own head. */
const LOG = { head: 32, page: 4096 + 24 } as const;

/** Fewer than fill the log, which then begins again. */
const CHANGES = 48;

test('a change of one flag writes few pages: its rows, and those indexes that a read needs', async () => {
  const [sqlite] = ENGINES;
  if (sqlite === undefined) throw new Error('no engine');
  await using home = await openTestStore(sqlite);
  const keys = Array.from({ length: 200 }, (_, index) => `flag-${index}`);
  const { project, environment } = await seed(home.store, keys);

  const change = (index: number) =>
    writeState(home.store, {
      project: project.name,
      environment: environment.name,
      key: keys[index % keys.length] ?? '',
      actor: ADA,
      next: () => JSON.stringify({ on: false, value: index }),
    });
  await Promise.all(keys.map((_, index) => change(index)));
  await home.database.query('PRAGMA wal_checkpoint(TRUNCATE)');
  for (let index = 0; index < CHANGES; index++) await change(keys.length + index);

  const pages = (statSync(`${home.address}-wal`).size - LOG.head) / LOG.page;
  expect(pages / CHANGES).toBeGreaterThan(5);
  expect(pages / CHANGES).toBeLessThan(9);
});
