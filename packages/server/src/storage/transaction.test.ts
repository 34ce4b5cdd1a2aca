import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  insertAccessToken,
  readAccessTokens,
  readTokenByDigest,
  storeRevocation,
} from '../nouns/access-tokens/access-token-table.ts';
import {
  insertEnvironment,
  lockEnvironment,
  readEnvironment,
  readEnvironments,
  removeEnvironment,
} from '../nouns/environments/environment-table.ts';
import { insertFlags, readFlag, readFlags, removeFlag, storeFlag } from '../nouns/flags/flag-table.ts';
import { insertKey, readKey, readKeys, storeKeyRevocation } from '../nouns/keys/key-table.ts';
import { insertProject, readProject, readProjects, removeProject } from '../nouns/projects/project-table.ts';
import { changeStates } from '../nouns/states/change-states.ts';
import { readStoredStates } from '../nouns/states/state-table.ts';
import { ENGINES, openTestStore, type TestEngine } from './test-engines.ts';
import {
  ADA,
  auditEntries,
  changing,
  makeEnvironment,
  makeFlag,
  makeKey,
  makeProject,
  makeToken,
  readLog,
  seed,
} from './test-records.ts';
import type { Tx } from './tx.ts';

setDefaultTimeout(60_000);

const ON = '{"enabled":true}';

describe.each(ENGINES)('a store transaction on $name', (engine: TestEngine) => {
  test('a new project has a log row and an audit entry', async () => {
    await using home = await openTestStore(engine);
    const project = makeProject('shop');
    const { seq } = await home.store.commit(ADA, (transaction) => insertProject(transaction, project));
    expect(seq).toBe(1);
    expect(await home.store.read((reader) => readProjects(reader))).toEqual([project]);
    expect(await home.store.read((reader) => readProject(reader, 'shop'))).toEqual(project);
    expect(await home.store.read((reader) => readProject(reader, 'other'))).toBeUndefined();
    const [row] = await readLog(home.database, 0, 10);
    expect(row).toEqual({
      seq: 1,
      changeId: expect.any(String),
      kind: 'project.created',
      projectId: project.id,
      payload: '{"name":"shop"}',
      actor: ADA.name,
      at: expect.any(Number),
    });
    const [entry] = await home.store.read((reader) => auditEntries(reader, { limit: 10 }));
    expect(entry).toEqual({
      id: expect.any(String),
      seq: 1,
      operation: 1,
      actor: ADA.name,
      ip: '192.0.2.7',
      note: 'because',
      action: 'project.created',
      projectId: project.id,
      target: 'shop',
      after: '{"name":"shop"}',
      at: expect.any(Number),
    });
  });

  test('rejects a name or key that is taken with already_exists', async () => {
    await using home = await openTestStore(engine);
    const { project, environment } = await seed(home.store);
    const key = makeKey(project);
    const token = makeToken();
    await home.store.commit(ADA, async (transaction) => {
      await insertKey(transaction, key, 'digest');
      await insertAccessToken(transaction, token, 'digest');
    });
    const attempts: ((transaction: Tx) => Promise<unknown>)[] = [
      (transaction) => insertProject(transaction, makeProject(project.name)),
      (transaction) => insertProject(transaction, { ...project, name: 'new' }),
      (transaction) => insertEnvironment(transaction, makeEnvironment(project)),
      (transaction) => insertEnvironment(transaction, { ...environment, name: 'staging' }),
      (transaction) => insertKey(transaction, makeKey(project), 'digest'),
      (transaction) => insertKey(transaction, key, 'other'),
      (transaction) => insertAccessToken(transaction, makeToken(), 'digest'),
      (transaction) => insertAccessToken(transaction, token, 'other'),
    ];
    for (const attempt of attempts) {
      await expect(home.store.commit(ADA, attempt)).rejects.toMatchObject({ code: 'already_exists' });
    }
  });

  test('deleting a project removes everything in it with one log row, and frees its name', async () => {
    await using home = await openTestStore(engine);
    const { project, environment } = await seed(home.store);
    await home.store.commit(ADA, changing(environment, ['checkout', ON]));
    await home.store.commit(ADA, (transaction) => insertKey(transaction, makeKey(project), 'digest'));
    const before = (await readLog(home.database, 0, 100)).length;
    await home.store.commit(ADA, (transaction) => removeProject(transaction, project));
    const rows = await readLog(home.database, before, 100);
    expect(rows.map((row) => [row.kind, row.payload])).toEqual([['project.deleted', '{}']]);
    for (const table of ['projects', 'environments', 'flags', 'flag_states', 'project_keys']) {
      expect(await home.database.query(`SELECT * FROM ${table}`)).toEqual([]);
    }
    expect(
      (await home.store.read((reader) => auditEntries(reader, { projectId: project.id, limit: 100 }))).length,
    ).toBe(6);
    await seed(home.store);
  });

  test('lists are sorted by code units, on either engine', async () => {
    await using home = await openTestStore(engine);
    const keys = ['b', 'a', 'B', '_', 'é', 'z', '10', '9', '\u{1f600}', '\uffee', '__proto__'];
    const { project, environment } = await seed(home.store, keys);
    await home.store.commit(ADA, changing(environment, ...keys.map((key) => [key, ON] as const)));
    const [flags, states] = await home.store.read(async (reader) => [
      await readFlags(reader, project.id),
      await readStoredStates(reader, environment.id),
    ]);
    expect(flags.map((flag) => flag.key)).toEqual([...keys].sort());
    expect(states.map((state) => state.flagKey)).toEqual([...keys].sort());
  });

  test('a revived environment keeps its id and its count, and is empty', async () => {
    await using home = await openTestStore(engine);
    const { project, environment } = await seed(home.store);
    await home.store.commit(ADA, changing(environment, ['checkout', ON]));
    await home.store.commit(ADA, (transaction) => removeEnvironment(transaction, environment));
    await home.store.read(async (reader) => {
      expect(await readEnvironments(reader, project.id)).toEqual([]);
      expect(await readEnvironment(reader, project.id, 'production')).toBeUndefined();
      expect(await readStoredStates(reader, environment.id)).toEqual([]);
    });
    await expect(home.store.commit(ADA, changing(environment, ['checkout', ON]))).rejects.toMatchObject({
      code: 'environment_not_found',
    });
    const again = { ...makeEnvironment(project), createdAt: 1_790_000_009_999 };
    const { result: revived, seq } = await home.store.commit(ADA, (t) => insertEnvironment(t, again));
    // Two, not one: at revision one it had a flag.
    expect(revived).toEqual({ ...again, id: environment.id, revision: 2 });
    const [row] = await readLog(home.database, (seq ?? 0) - 1, 1);
    expect(JSON.parse(row?.payload ?? '')).toEqual({ name: 'production', revision: 2 });
    const { result } = await home.store.commit(ADA, changing(revived, ['checkout', ON]));
    expect(result.revision).toBe(3);
  });

  test('lockEnvironment returns the current record, and nothing for a deleted environment', async () => {
    await using home = await openTestStore(engine);
    const { environment } = await seed(home.store);
    await home.store.commit(ADA, changing(environment, ['checkout', ON]));
    const { result, seq } = await home.store.commit(ADA, (transaction) =>
      lockEnvironment(transaction, environment.id),
    );
    expect(result).toEqual({ ...environment, revision: 1 });
    expect(seq).toBeUndefined();
    await home.store.commit(ADA, async (transaction) => {
      await lockEnvironment(transaction, environment.id);
      await removeEnvironment(transaction, environment);
      expect(await lockEnvironment(transaction, environment.id)).toBeUndefined();
      await removeEnvironment(transaction, environment);
    });
  });

  test('a flag is created, updated and deleted with audit entries and no revision', async () => {
    await using home = await openTestStore(engine);
    const { project } = await seed(home.store, []);
    const flag = { ...makeFlag(project, 'theme'), description: 'Colours', tags: ['ui', 'q"4'] };
    const { seq } = await home.store.commit(ADA, (transaction) => storeFlag(transaction, flag));
    expect(seq).toBe(3);
    expect(await home.store.read((reader) => readFlag(reader, project.id, 'theme'))).toEqual(flag);
    await home.store.commit(ADA, (transaction) => storeFlag(transaction, { ...flag, createdAt: 1 }));
    await home.store.commit(ADA, (transaction) =>
      storeFlag(transaction, { ...flag, tags: [], createdAt: 1 }),
    );
    expect(await home.store.read((reader) => readFlags(reader, project.id))).toEqual([{ ...flag, tags: [] }]);
    await home.store.commit(ADA, (transaction) => removeFlag(transaction, { ...flag, tags: [] }));
    await home.store.commit(ADA, (transaction) => removeFlag(transaction, { ...flag, tags: [] }));
    expect(await home.store.read((reader) => readFlags(reader, project.id))).toEqual([]);
    const entries = await home.store.read((reader) => auditEntries(reader, { target: 'theme', limit: 10 }));
    expect(entries.map(({ action, before, after, seq: at }) => [action, before, after, at])).toEqual([
      [
        'flag.deleted',
        '{"description":"Colours","tags":[],"owner":"","permanent":false,"valueKind":"any","namedValues":[],"createdAt":1790000000002}',
        undefined,
        5,
      ],
      [
        'flag.updated',
        '{"description":"Colours","tags":["ui","q\\"4"],"owner":"","permanent":false,"valueKind":"any","namedValues":[]}',
        '{"description":"Colours","tags":[],"owner":"","permanent":false,"valueKind":"any","namedValues":[]}',
        4,
      ],
      [
        'flag.created',
        undefined,
        '{"description":"Colours","tags":["ui","q\\"4"],"owner":"","permanent":false,"valueKind":"any","namedValues":[]}',
        3,
      ],
    ]);
  });

  test('flags inserted together have one audit entry each, and an existing one is rejected', async () => {
    await using home = await openTestStore(engine);
    const { project } = await seed(home.store, []);
    const keys = Array.from({ length: 450 }, (_, index) => `flag-${String(index).padStart(3, '0')}`);
    const flags = keys.map((key) => ({ ...makeFlag(project, key), description: `what ${key} does` }));
    const { seq } = await home.store.commit(ADA, (transaction) => insertFlags(transaction, flags));
    expect(await home.store.read((reader) => readFlags(reader, project.id))).toEqual(flags);
    const entries = await home.store.read((reader) =>
      auditEntries(reader, { projectId: project.id, limit: 450 }),
    );
    const created = entries.filter(({ action }) => action === 'flag.created').map(({ target }) => target);
    expect(created.toReversed()).toEqual(keys);
    expect(await readLog(home.database, 2, 10)).toMatchObject([{ seq, kind: 'records.changed' }]);
    const again = home.store.commit(ADA, (transaction) => insertFlags(transaction, flags.slice(0, 1)));
    await expect(again).rejects.toThrow();
    expect((await home.store.commit(ADA, (transaction) => insertFlags(transaction, []))).seq).toBeUndefined();
  });

  test('a flag that still has a state cannot be deleted', async () => {
    await using home = await openTestStore(engine);
    const { project, environment } = await seed(home.store);
    await home.store.commit(ADA, changing(environment, ['checkout', ON]));
    const flag = makeFlag(project, 'checkout');
    await expect(home.store.commit(ADA, (transaction) => removeFlag(transaction, flag))).rejects.toThrow();
    await home.store.commit(ADA, async (transaction) => {
      await changeStates(transaction, environment, [['checkout', null]]);
      await removeFlag(transaction, flag);
    });
    expect(await home.store.read((reader) => readFlags(reader, project.id))).toEqual([]);
  });

  test('a key is created and revoked once, with its digest in the log and never in the audit', async () => {
    await using home = await openTestStore(engine);
    const { project } = await seed(home.store);
    const key = { ...makeKey(project), expiresAt: 1_800_000_000_000 };
    await home.store.commit(ADA, (transaction) => insertKey(transaction, key, 'd1gest'));
    expect(await home.store.read((reader) => readKey(reader, key.id))).toEqual(key);
    await home.store.commit(ADA, (transaction) => storeKeyRevocation(transaction, key, 1_795_000_000_000));
    const { seq } = await home.store.commit(ADA, (transaction) =>
      storeKeyRevocation(transaction, key, 1_796_000_000_000),
    );
    expect(seq).toBeUndefined();
    expect(await home.store.read((reader) => readKeys(reader, project.id))).toEqual([
      { ...key, revokedAt: 1_795_000_000_000 },
    ]);
    const rows = await readLog(home.database, 2, 10);
    expect(rows.map((row) => [row.kind, JSON.parse(row.payload)])).toEqual([
      [
        'key.created',
        { id: key.id, digest: 'd1gest', environments: ['production'], expiresAt: 1_800_000_000_000 },
      ],
      ['key.revoked', { id: key.id, digest: 'd1gest' }],
    ]);
    const entries = await home.store.read((reader) => auditEntries(reader, { target: key.id, limit: 10 }));
    expect(entries.map((entry) => entry.action)).toEqual(['key.revoked', 'key.created']);
    expect(JSON.stringify(entries)).not.toContain('d1gest');
    expect(entries[1]?.after).toContain('"expiresAt":"2027-01-15T08:00:00.000Z"');
  });

  test('an access token is created, found by its digest and revoked once, outside any project', async () => {
    await using home = await openTestStore(engine);
    const token = { ...makeToken(), expiresAt: 1_800_000_000_000 };
    await home.store.commit(ADA, (transaction) => insertAccessToken(transaction, token, 'd1gest'));
    const found = await home.store.read((reader) => readTokenByDigest(reader, 'd1gest'));
    expect(found?.token).toEqual(token);
    expect(await home.store.read((reader) => readTokenByDigest(reader, 'other'))).toBeUndefined();
    await home.store.commit(ADA, (transaction) => storeRevocation(transaction, token, 5));
    await home.store.commit(ADA, (transaction) => storeRevocation(transaction, token, 6));
    expect(await home.store.read((reader) => readAccessTokens(reader))).toEqual([{ ...token, revokedAt: 5 }]);
    const entries = await home.store.read((reader) => auditEntries(reader, { limit: 10 }));
    expect(entries.map((entry) => [entry.action, entry.target, entry.projectId])).toEqual([
      ['token.revoked', token.id, undefined],
      ['token.created', token.id, undefined],
    ]);
    expect(entries[1]?.after).toContain('"expiresAt":"2027-01-15T08:00:00.000Z"');
  });
});
