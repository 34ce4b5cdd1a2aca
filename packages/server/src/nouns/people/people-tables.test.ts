import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { until } from '@halyard/testing';
import { SESSION_LIFETIME } from '../../domain/rights.ts';
import { SqlStore } from '../../storage/store.ts';
import { ENGINES, openTestStore, type TestEngine, type TestStore } from '../../storage/test-engines.ts';
import { ADA, makeProject } from '../../storage/test-records.ts';
import { insertProject } from '../projects/project-table.ts';
import { removeFailures, storeSuccess, takeAttempt } from './attempt-table.ts';
import { insertInvitation, readInvitationByDigest, takeInvitation } from './invitation-table.ts';
import { type Operator, SIGN_ON_MS } from './operator.ts';
import {
  insertOperator,
  readCredentials,
  readOperatorByIdentity,
  readOperators,
  storeIdentity,
  storePassword,
} from './operator-table.ts';
import {
  insertSession,
  readSession,
  removeEnded,
  storeRefusal,
  storeUse,
  takeSignOn,
} from './session-table.ts';

setDefaultTimeout(60_000);

const NOW = 1_790_000_000_000;
const WINDOW = { now: NOW, windowMs: 900_000 };

function operator(email: string): Operator {
  return {
    id: crypto.randomUUID(),
    email,
    name: 'Ada',
    role: 'editor',
    canChangeProtected: true,
    createdAt: NOW,
  };
}

describe.each(ENGINES)('people on $name', (engine: TestEngine) => {
  let home: TestStore;
  beforeAll(async () => {
    home = await openTestStore(engine);
  });
  afterAll(() => home[Symbol.asyncDispose]());

  test('attempts at the same moment cannot pass the limit together', async () => {
    const buckets = [{ name: 'account:x' }, { name: 'account:x@here', limit: 5 }];
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => takeAttempt(home.store, buckets, WINDOW)),
    );
    const counts = answers.flatMap((one) => ('failures' in one ? [[...one.failures.values()]] : []));
    expect(counts.sort()).toEqual([1, 2, 3, 4, 5].map((count) => [count, count]));
    const refused = answers.filter((one) => 'fullUntil' in one);
    expect(refused).toEqual(Array(15).fill({ full: 'account:x@here', fullUntil: NOW + 900_000 }));
  });

  test('a full bucket does not affect the others, and restarts after its window', async () => {
    const full = { name: 'network:full', limit: 5 };
    const free = { name: 'account:free', limit: 5 };
    for (let count = 0; count < 5; count++) await takeAttempt(home.store, [full], WINDOW);
    expect(await takeAttempt(home.store, [free, full], WINDOW)).toEqual({
      full: full.name,
      fullUntil: NOW + 900_000,
    });
    await home.store.unlogged((tx) => storeSuccess(tx, [full.name]));
    expect(await takeAttempt(home.store, [full], WINDOW)).toEqual({ failures: new Map([[full.name, 5]]) });
    const later = { ...WINDOW, now: NOW + 900_000 };
    for (let count = 1; count <= 5; count++) {
      const both = new Map([free, full].map(({ name }) => [name, count]));
      expect(await takeAttempt(home.store, [free, full], later)).toEqual({ failures: both });
    }
  });

  test('a window that a wrong clock began in the future counts as over', async () => {
    const bucket = { name: 'account:ahead', limit: 1 };
    const ahead = { ...WINDOW, now: NOW + 30 * 86_400_000 };
    await takeAttempt(home.store, [bucket], ahead);
    const counted = { failures: new Map([[bucket.name, 1]]) };
    expect(await takeAttempt(home.store, [bucket], WINDOW)).toEqual(counted);
    // Another node's clock may be a minute behind.
    expect(await takeAttempt(home.store, [bucket], { ...WINDOW, now: NOW - 60_000 })).toMatchObject({
      full: bucket.name,
    });
  });

  test('the failures of an account are forgotten in every network, and only its own', async () => {
    const names = ['account:a_b', 'account:a_b@192.0.2.1', 'account:axb@192.0.2.1', 'account:a_bc'];
    const buckets = names.map((name) => ({ name }));
    await takeAttempt(home.store, buckets, WINDOW);
    await home.store.commit(ADA, async (tx) => {
      await removeFailures(tx, 'account:a_b');
      // A deed, as a sign-in is: an operation without one leaves no trace.
      await insertProject(tx, makeProject('signed-in'));
    });
    const counted = await takeAttempt(home.store, buckets, WINDOW);
    expect('failures' in counted && names.map((name) => counted.failures.get(name))).toEqual([1, 1, 2, 2]);
  });

  test('records come back as they were written', async () => {
    const ada = operator('ada@example.com');
    const session = { digest: 'd', operatorId: ada.id, createdAt: NOW, lastUsedAt: NOW };
    await home.store.commit(ADA, async (tx) => {
      await insertOperator(tx, ada, 'hash');
      await insertSession(tx, session, ada);
    });
    const seen = { ...ada, lastSeenAt: NOW };
    await home.store.read(async (tx) => {
      expect(await readOperators(tx)).toEqual([seen]);
      expect(await readCredentials(tx, 'ada@example.com')).toEqual({ operator: seen, passwordHash: 'hash' });
      expect(await readSession(tx, 'd')).toMatchObject({ session, operator: seen });
      expect(await readSession(tx, 'e')).toBeUndefined();
    });
    await home.store.unlogged((tx) => storeUse(tx, session, NOW + 5));
    const touched = await home.store.read((tx) => readSession(tx, 'd'));
    expect(touched?.session.lastUsedAt).toBe(NOW + 5);
    expect(touched?.operator.lastSeenAt).toBe(NOW + 5);
    await home.store.unlogged((tx) => removeEnded(tx, NOW + 5 + SESSION_LIFETIME.idleMs, WINDOW.windowMs));
    expect(await home.store.read((tx) => readSession(tx, 'd'))).toBeUndefined();
  });

  test('an operator has a password or an identity, never both, and an identity belongs to one operator', async () => {
    const identity = { issuer: 'https://id.example', subject: 'a1' };
    const lin = { ...operator('lin@example.com'), identity };
    const commit = (work: Parameters<typeof home.store.commit>[1]) => home.store.commit(ADA, work);
    const read = (email: string) => home.store.read((tx) => readCredentials(tx, email));
    await commit((tx) => insertOperator(tx, lin, ''));
    expect(await read(lin.email)).toEqual({ operator: lin, passwordHash: '' });
    const found = await home.store.read((tx) => readOperatorByIdentity(tx, identity));
    expect(found).toEqual(lin);
    const other = { ...identity, subject: 'b2' };
    expect(await home.store.read((tx) => readOperatorByIdentity(tx, other))).toBeUndefined();
    const twin = { ...operator('twin@example.com'), identity };
    await expect(commit((tx) => insertOperator(tx, twin, ''))).rejects.toMatchObject({
      code: 'already_exists',
    });
    await commit((tx) => storePassword(tx, lin, 'hash'));
    const { identity: _, ...withPassword } = lin;
    expect(await read(lin.email)).toEqual({ operator: withPassword, passwordHash: 'hash' });
    await commit((tx) => storeIdentity(tx, withPassword, other));
    expect(await read(lin.email)).toEqual({ operator: { ...lin, identity: other }, passwordHash: '' });
  });

  test('a single sign-on works once, until it is too old to be accepted anyway', async () => {
    const use = async () => {
      const { result } = await home.store.commit(ADA, async (tx) => {
        const isFirst = await takeSignOn(tx, 'nonce', NOW);
        if (isFirst) await storeRefusal(tx, operator('sue@example.com'), 'no_role');
        return isFirst;
      });
      return result;
    };
    expect((await Promise.all([use(), use(), use()])).sort()).toEqual([false, false, true]);
    await home.store.unlogged((tx) => removeEnded(tx, NOW + 2 * SIGN_ON_MS - 1, WINDOW.windowMs));
    expect(await use()).toBe(false);
    await home.store.unlogged((tx) => removeEnded(tx, NOW + 2 * SIGN_ON_MS, WINDOW.windowMs));
    expect(await use()).toBe(true);
  });

  test('the holder of a lock sees what the previous holder wrote', async () => {
    const other = new SqlStore(await home.connect());
    let seen: number | undefined;
    const waiting = `SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    let second: Promise<unknown> = Promise.resolve();
    const { result: before } = await home.store.commit(ADA, async (tx) => {
      await tx.lockPeople();
      second = other.commit(ADA, async (tx) => {
        await tx.lockPeople();
        seen = (await readOperators(tx)).length;
      });
      // On SQLite the other cannot even begin.
      await until(
        'the other one waits, or has read',
        async () =>
          engine.name === 'sqlite' || seen !== undefined || (await home.database.query(waiting)).length > 0,
      );
      const { length } = await readOperators(tx);
      await insertOperator(tx, operator('one@example.com'), 'hash');
      return length;
    });
    await second;
    expect(seen).toBe(before + 1);
  });

  test('an e-mail belongs to one operator, and a link works once', async () => {
    const ada = operator('twice@example.com');
    const insert = () => home.store.commit(ADA, (tx) => insertOperator(tx, ada, 'hash'));
    await insert();
    await expect(insert()).rejects.toMatchObject({ code: 'already_exists' });
    const rights = { role: 'viewer', canChangeProtected: false } as const;
    const invitation = {
      ...({ id: crypto.randomUUID(), kind: 'invite', email: 'new@example.com', ...rights } as const),
      createdBy: 'system',
      createdAt: NOW,
      expiresAt: NOW + 1,
    };
    await home.store.commit(ADA, (tx) => insertInvitation(tx, invitation, 'digest'));
    const use = () =>
      home.store.commit(ADA, async (tx) => {
        const used = await takeInvitation(tx, invitation, NOW);
        if (used) await insertOperator(tx, operator('new@example.com'), 'hash');
        return used;
      });
    const uses = await Promise.all([use(), use(), use()]);
    expect(uses.filter(({ result }) => result)).toHaveLength(1);
    const found = await home.store.read((tx) => readInvitationByDigest(tx, 'digest'));
    expect(found).toEqual({ ...invitation, usedAt: NOW });
  });
});
