import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { ProjectRole, Rights } from '../domain/rights.ts';
import type { AccessToken } from '../nouns/access-tokens/access-token.ts';
import {
  insertAccessToken,
  readAccessTokens,
  readTokenByDigest,
} from '../nouns/access-tokens/access-token-table.ts';
import type { Invitation } from '../nouns/people/invitation.ts';
import { insertInvitation, readInvitationByDigest } from '../nouns/people/invitation-table.ts';
import type { Operator } from '../nouns/people/operator.ts';
import { insertOperator, readOperators } from '../nouns/people/operator-table.ts';
import { insertProject, readProjects, removeProject } from '../nouns/projects/project-table.ts';
import { migrate } from './schema.ts';
import { SqlStore } from './store.ts';
import { ENGINES, openTestStore, type TestEngine, type TestStore } from './test-engines.ts';
import { ADA, makeProject } from './test-records.ts';

setDefaultTimeout(60_000);

const AT = 1_790_000_000_000;

/** The newest schema without roles in projects. */
const BEFORE = 4;

/** The rights of everyone in a store, by name. */
async function allRights(store: SqlStore): Promise<Record<string, Rights>> {
  return store.read(async (reader) => {
    const invitation = await readInvitationByDigest(reader, 'digest-of-link');
    const named = [
      ...(await readOperators(reader)).map((each) => [each.email, each] as const),
      ...(await readAccessTokens(reader)).map((each) => [each.name, each] as const),
      ...(invitation === undefined ? [] : [['link', invitation] as const]),
    ];
    return Object.fromEntries(
      named.map(([name, { role, canChangeProtected, projects }]) => [
        name,
        { role, canChangeProtected, ...(projects && { projects }) },
      ]),
    );
  });
}

describe.each(ENGINES)('rights on $name', (engine: TestEngine) => {
  let home: TestStore;
  beforeAll(async () => {
    home = await openTestStore(engine);
  });
  afterAll(() => home[Symbol.asyncDispose]());

  test('a migration gives everyone the rights that they had', async () => {
    await using old = await engine.create();
    const database = await old.connect();
    await migrate(database, { upTo: BEFORE });

    const rights = [
      ['viewer', 0],
      ['editor', 0],
      ['editor', 1],
      ['admin', 1],
    ] as const;

    for (const [index, [role, isProtected]] of rights.entries()) {
      await database.query(
        `INSERT INTO operators (id, email, name, password_hash, role, can_change_protected, created_at)
          VALUES ($1, $2, 'Ada', '', $3, $4, $5)`,
        [`o${index}`, `person-${index}`, role, isProtected, AT],
      );
      await database.query(
        `INSERT INTO access_tokens (id, name, digest, role, can_change_protected, created_at)
          VALUES ($1, $2, $1, $3, $4, $5)`,
        [`t${index}`, `token-${index}`, role, isProtected, AT],
      );
    }

    // Made before there were roles: it may do everything.
    await database.query(
      `INSERT INTO access_tokens (id, name, digest, created_at) VALUES ('t', 'first', 't', ${AT})`,
    );
    await database.query(
      `INSERT INTO invitations (id, kind, digest, email, role, can_change_protected, created_by, created_at, expires_at)
        VALUES ('i', 'invite', 'digest-of-link', 'soon', 'editor', 1, 'system', $1, $1)`,
      [AT],
    );

    await migrate(database);
    const store = new SqlStore(database);
    const expected = rights.flatMap(([role, isProtected], index) =>
      ['person', 'token'].map((kind) => [
        `${kind}-${index}`,
        { role, canChangeProtected: isProtected === 1 },
      ]),
    );
    expect(await allRights(store)).toEqual({
      ...Object.fromEntries(expected),
      first: { role: 'admin', canChangeProtected: true },
      link: { role: 'editor', canChangeProtected: true },
    });

    const tokens = await store.read((reader) => readAccessTokens(reader));
    expect(tokens.filter(({ only, expiresAt }) => only !== undefined || expiresAt !== undefined)).toEqual([]);
  });

  test('roles in projects are kept by name, and end with their project', async () => {
    const [shop, web] = [makeProject('shop'), makeProject('web')];
    const inShop: ProjectRole = {
      projectId: shop.id,
      project: 'shop',
      role: 'editor',
      canChangeProtected: true,
    };
    const inWeb: ProjectRole = {
      projectId: web.id,
      project: 'web',
      role: 'admin',
      canChangeProtected: false,
    };
    const limited: Rights = { role: 'none', canChangeProtected: false, projects: [inShop, inWeb] };
    const operator: Operator = { id: 'op', email: 'ada', name: 'Ada', ...limited, createdAt: AT };
    const token: AccessToken = { id: 'tok', name: 'ci', ...limited, only: 'states', createdAt: AT };
    const link: Invitation = {
      id: 'inv',
      kind: 'invite',
      email: 'soon',
      createdBy: 'system',
      createdAt: AT,
      expiresAt: AT,
      ...limited,
    };
    await home.store.commit(ADA, async (tx) => {
      for (const project of [shop, web]) await insertProject(tx, project);
      await insertOperator(tx, operator, '');
      await insertInvitation(tx, link, 'digest-of-link');
      await insertAccessToken(tx, token, 'digest-of-token');
    });
    expect(await allRights(home.store)).toEqual({ ada: limited, ci: limited, link: limited });
    const byDigest = await home.store.read((reader) => readTokenByDigest(reader, 'digest-of-token'));
    expect(byDigest?.token).toEqual(token);

    await home.store.commit(ADA, (tx) => removeProject(tx, shop));
    const left: Rights = { ...limited, projects: [inWeb] };
    expect(await allRights(home.store)).toEqual({ ada: left, ci: left, link: left });
    const rows = await home.database.query<{ roles: string }>(
      'SELECT project_roles AS roles FROM operators UNION ALL SELECT project_roles FROM access_tokens',
    );
    expect(rows.filter(({ roles }) => roles.includes(shop.id))).toEqual([]);

    await home.store.commit(ADA, (tx) => removeProject(tx, web));
    const nothing: Rights = { role: 'none', canChangeProtected: false };
    expect(await allRights(home.store)).toEqual({ ada: nothing, ci: nothing, link: nothing });
  });

  test.each([
    '',
    '{}',
    '[1]',
    '[{"id": "p", "role": "owner", "protected": true}]',
    '[{"id": "p", "role": "admin"}]',
  ])('damaged roles give no right: %s', async (roles) => {
    const project = { ...makeProject(`p${crypto.randomUUID()}`), id: 'p' };
    const known = await home.store.read((reader) => readProjects(reader));
    if (known.length === 0) await home.store.commit(ADA, (tx) => insertProject(tx, project));
    await home.database.query('UPDATE operators SET project_roles = $1', [roles]);
    const [operator] = await home.store.read((tx) => readOperators(tx));
    expect(operator?.projects).toBeUndefined();
  });
});
