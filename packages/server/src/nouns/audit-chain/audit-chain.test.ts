import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { until } from '@halyard/testing';
import pino from 'pino';
import { type AuditRow, REMOVED, REMOVED_PERSON, redact } from '../../domain/redaction.ts';
import { ENGINES, openTestStore, type TestEngine, type TestStore } from '../../storage/test-engines.ts';
import { ADA, auditEntries, seed } from '../../storage/test-records.ts';
import { BLOCK_ENTRIES } from './block.ts';
import { readLastBlock } from './block-table.ts';
import { ChainRunner } from './chain-runner.ts';
import { removePersonalData } from './personal-data.ts';
import { type Problem, verifyAudit } from './verification.ts';

setDefaultTimeout(60_000);

const NOW = 1_790_000_000_000;

function runnerOf({ store }: TestStore): ChainRunner {
  const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length));
  const context = { store, now: () => NOW, randomBytes };
  return new ChainRunner({ context, log: pino({ level: 'silent' }), isReady: () => true });
}

/** Adds changes, each with so many entries. */
async function addChanges(home: TestStore, ...sizes: readonly number[]): Promise<void> {
  for (const size of sizes)
    await home.store.commit(ADA, async (tx) => {
      for (let n = 0; n < size; n++)
        tx.journal.audit({
          action: 'operator.updated',
          environmentId: 'e1',
          target: `person${n}@example.com`,
          before: JSON.stringify({ name: 'Ada L.', role: 'viewer' }),
          after: JSON.stringify({ name: 'Ada L.', role: 'editor', by: 'see bob@example.com' }),
        });
    });
}

/** What the whole verification says, as short texts. */
async function problemsIn({ store }: TestStore, head?: { readonly seq: number; readonly hash: string }) {
  const { problems, ...rest } = await verifyAudit({ store }, head === undefined ? {} : { head });
  const place = ({ seq, position }: Problem['from']) => (position === 0 ? `${seq}` : `${seq}-${position}`);
  const texts = problems.map(({ kind, from, to }) => {
    const [first, last] = [place(from), place(to)];
    return `${kind} ${first === last ? first : `${first}..${last}`}`;
  });
  return { ...rest, problems: texts };
}

/** A log of nine changes, of which the last three are not chained yet, in two blocks. */
async function chained(engine: TestEngine): Promise<TestStore> {
  const home = await openTestStore(engine);
  const runner = runnerOf(home);
  await addChanges(home, 1, 1, 3);
  await runner.runOnce();
  await addChanges(home, 1, 1, 1);
  await runner.runOnce();
  await addChanges(home, 1, 1, 1);
  return home;
}

describe.each(ENGINES)('the chain of the audit log on $name', (engine: TestEngine) => {
  test('S24.1 verifies what was written, and says what is not chained yet', async () => {
    await using home = await chained(engine);
    const { head, ...found } = await problemsIn(home);
    expect(found).toEqual({ entries: 8, blocks: 2, problems: [], hasHead: false, unchained: 3 });
    expect(head).toMatchObject({ seq: 6, chainedAt: NOW });

    // A head names what is before it, also when there is more.
    await runnerOf(home).runOnce();
    const later = await problemsIn(home, head);
    expect(later).toMatchObject({ problems: [], hasHead: true, unchained: 0, head: { seq: 9 } });
    expect(await problemsIn(home, { seq: 6, hash: '0'.repeat(64) })).toMatchObject({ hasHead: false });
  });

  test('S24.1 a node that stops chains what is left', async () => {
    await using home = await openTestStore(engine);
    const runner = runnerOf(home);
    runner.start();
    await addChanges(home, 1);
    runner.applied();
    await runner.close();
    await runner.close();
    expect(await problemsIn(home)).toMatchObject({ entries: 1, unchained: 0 });
  });

  test('a node that stops leaves the rest of a long log to the next one', async () => {
    await using home = await openTestStore(engine);
    await addChanges(home, ...Array<number>(10).fill(2 * BLOCK_ENTRIES * 10));
    const runner = runnerOf(home);
    runner.start();
    await until('the first block is there', async () => (await readLastBlock(home.store)).number > 0);
    await runner.close();
    expect((await problemsIn(home)).unchained).toBeGreaterThan(0);
  });

  const INSERT = 'INSERT INTO audit_log (id, seq, operation_seq, position, actor, action, target, at) VALUES';
  const TAMPERINGS: readonly (readonly [statements: readonly string[], found: readonly string[]])[] = [
    [[`UPDATE audit_log SET target = 'x' WHERE seq = 4`], ['changed 4']],
    [[`UPDATE audit_log SET actor = 'operator:eve@x.example' WHERE seq = 4`], ['changed 4']],
    [['DELETE FROM audit_log WHERE seq IN (2, 4, 5)'], ['missing 2', 'missing 4..5']],
    [['DELETE FROM audit_log WHERE seq = 3 AND position = 1'], ['missing 3-1']],
    // Two that are swapped.
    [
      ['UPDATE audit_log SET seq = 6 - seq, operation_seq = 6 - seq WHERE seq IN (2, 4)'],
      ['changed 2', 'changed 4'],
    ],
    [
      [`${INSERT} ('new', 2, 2, 7, 'system', 'a.b', 'a', 1), ('old', -2, -2, 0, 'system', 'a.b', 'a', 1)`],
      ['inserted -2', 'inserted 2-7'],
    ],
    // Another in the place of one.
    [
      [
        'UPDATE audit_log SET position = 9 WHERE seq = 2',
        `${INSERT} ('new', 2, 2, 0, 'system', 'a.b', 'a', 1)`,
      ],
      ['changed 2', 'inserted 2-9'],
    ],
    [['UPDATE audit_blocks SET chained_at = chained_at - 1 WHERE number = 1'], ['block-changed 1..3-2']],
    [
      [`UPDATE audit_blocks SET hash = '00' WHERE number = 1`],
      ['block-changed 1..3-2', 'block-changed 4..6'],
    ],
    [['DELETE FROM audit_blocks WHERE number = 1'], ['block-missing 0..4']],
    [['DELETE FROM audit_log WHERE seq > 7'], ['cut-off 8..9']],
  ];

  test('S24.2 what was edited, deleted, swapped or inserted is found, with its place', async () => {
    await using home = await chained(engine);
    const tables = ['audit_log', 'audit_blocks'];
    for (const table of tables)
      await home.database.query(`CREATE TABLE saved_${table} AS SELECT * FROM ${table}`);

    for (const [statements, found] of TAMPERINGS) {
      for (const statement of statements) await home.database.query(statement);
      expect((await problemsIn(home)).problems, statements[0]).toEqual([...found]);

      for (const table of tables) {
        await home.database.query(`DELETE FROM ${table}`);
        await home.database.query(`INSERT INTO ${table} SELECT * FROM saved_${table}`);
      }
    }
    expect((await problemsIn(home)).problems).toEqual([]);
  });

  test('S24.3 a log that was cut off together with its chain, or chained anew, lacks the head that was noted', async () => {
    await using home = await chained(engine);
    await runnerOf(home).runOnce();
    const { head } = await problemsIn(home);
    if (head === undefined) throw new Error('nothing was chained');

    for (const statement of [
      'DELETE FROM audit_log WHERE seq > 6',
      'DELETE FROM audit_blocks WHERE number > 2',
      'DELETE FROM change_log WHERE seq > 6',
      'UPDATE feed SET seq = 6',
    ])
      await home.database.query(statement);
    expect(await problemsIn(home, head)).toMatchObject({ problems: [], hasHead: false });

    await home.database.query('DELETE FROM audit_blocks');
    await runnerOf(home).runOnce();
    await addChanges(home, 1, 1, 1);
    await runnerOf(home).runOnce();
    expect(await problemsIn(home, head)).toMatchObject({ problems: [], hasHead: false, head: { seq: 9 } });
  });

  test('S24.1 a change with more entries than a block, written before the chain, is chained by many nodes at once', async () => {
    await using home = await openTestStore(engine);
    await seed(home.store);
    await addChanges(home, 1, 2 * BLOCK_ENTRIES + 5, 1);
    // As written before operations had a number.
    await home.database.query('UPDATE audit_log SET operation_seq = NULL WHERE seq < 3');
    await Promise.all([runnerOf(home).runOnce(), runnerOf(home).runOnce(), runnerOf(home).runOnce()]);

    const numbers = await home.database.query('SELECT number FROM audit_blocks ORDER BY number');
    expect(numbers).toEqual(numbers.map((_, index) => ({ number: index + 1 })));
    expect(await problemsIn(home)).toMatchObject({ problems: [], unchained: 0 });
  });

  test('S24.4 personal data is removed after its time, and the rest still verifies', async () => {
    await using home = await chained(engine);
    const { head } = await problemsIn(home);
    await home.database.query('UPDATE audit_log SET target = $1 WHERE seq = 2', ['edited@example.com']);
    const [newest] = await home.database.query<{ at: number }>(
      'SELECT max(newest_at) AS at FROM audit_blocks',
    );
    expect(await removePersonalData(home.store, 1)).toBe(0);
    expect(await removePersonalData(home.store, (newest?.at ?? 0) + 1)).toBe(2);
    expect(await removePersonalData(home.store, (newest?.at ?? 0) + 1)).toBe(0);

    // Neither the text nor the salt that proves it is left; entries that are not chained yet are as they were.
    const old = JSON.stringify(await home.database.query('SELECT * FROM audit_log WHERE seq <= 6'));
    for (const personal of ['ada@', 'Ada L.', 'person', 'bob@', '192.0.2.7', 'edited@'])
      expect(old).not.toContain(personal);
    expect(old).toContain(`operator:${REMOVED}`);
    expect(await home.database.query('SELECT number FROM audit_blocks WHERE salt IS NOT NULL')).toEqual([]);
    const found = await problemsIn(home, head);
    expect(found).toMatchObject({ problems: ['changed 2'], hasHead: true, unchained: 3, redactedThrough: 6 });
    const seqsOf = async (actor: string) =>
      (await auditEntries(home.store, { actor, limit: 10 })).map(({ seq }) => seq);
    expect(await seqsOf(ADA.name)).toEqual([9, 8, 7]);
    expect(await seqsOf(REMOVED_PERSON)).toEqual([6, 5, 4, 3, 3, 3, 2, 1]);

    // What is left cannot be changed, nor can something be made personal again.
    await home.database.query(`UPDATE audit_log SET action = 'operator.removed' WHERE seq = 5`);
    await home.database.query(`UPDATE audit_log SET actor = 'operator:eve@example.com' WHERE seq = 6`);
    expect((await problemsIn(home)).problems).toEqual(['changed 2', 'changed 5', 'changed 6']);
  });

  test('S24.1 large entries are chained in blocks of few', async () => {
    await using home = await openTestStore(engine);
    await addChanges(home, 3);
    await home.database.query('UPDATE audit_log SET after = $1', [JSON.stringify('ö'.repeat(1_100_000))]);
    await runnerOf(home).runOnce();
    expect(await problemsIn(home)).toMatchObject({ entries: 3, blocks: 3, problems: [] });
  });

  test('S24.4 personal data is removed from all entries of a block that does not say which they are', async () => {
    await using home = await chained(engine);
    await home.database.query(`UPDATE audit_blocks SET entries = '[1' WHERE number = 1`);
    await home.database.query(`UPDATE audit_blocks SET entries = '[]' WHERE number = 2`);
    expect(await removePersonalData(home.store, Number.MAX_SAFE_INTEGER)).toBe(2);

    const actors = await home.database.query('SELECT DISTINCT actor FROM audit_log WHERE seq <= 6');
    expect(actors).toEqual([{ actor: REMOVED_PERSON }]);
  });
});

test('S24.4 nothing is left to remove where personal data was removed, and JSON stays JSON', () => {
  const texts = [
    'a@b',
    'a@b@c',
    '@a@b@',
    'a@@b',
    'x <ada@example.com>, "ö@ü"',
    '@@a@b@@c@d',
    'no address',
    '',
  ];
  for (const text of texts) {
    const json = JSON.stringify({ name: `${text} "quoted" \\`, text: [text] });
    for (const action of ['operator.updated', 'flag.changed']) {
      const entry = {
        action,
        actor: text,
        note: text,
        reference: text,
        target: text,
        before: json,
        after: null,
      };
      // The members that are not texts stay as they are.
      const once = redact(entry as unknown as AuditRow);
      expect(redact(once)).toEqual(once);
      expect(() => JSON.parse(once.before ?? '')).not.toThrow();
      expect(JSON.stringify(once)).not.toMatch(/[^@\s"\\]@[^@\s"\\]/);
    }
  }
});
