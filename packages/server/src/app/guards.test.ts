import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Actor } from '../domain/audit.ts';
import { ServiceError } from '../domain/errors.ts';
import { openTestApp, type TestApp } from '../management/api/test-app.ts';
import { readDeclaration } from '../nouns/documents/declaration.ts';
import type { ImportRules } from '../nouns/documents/document.ts';
import { importDeclaration, previewImport } from '../nouns/documents/import.ts';
import { updateEnvironment } from '../nouns/environments/environments.ts';
import { archiveFlag, restoreFlag } from '../nouns/flags/flag-archive.ts';
import { revertChange } from '../nouns/history/revert.ts';
import { cancelSchedule, createSchedule } from '../nouns/schedules/schedules.ts';
import { copyStates } from '../nouns/states/copy.ts';
import { ENGINES } from '../storage/test-engines.ts';

setDefaultTimeout(60_000);

/** A signed-in person, with the environments that they confirmed. */
function person(more: Partial<Actor['permissions']>): Actor {
  return {
    name: 'operator:ada@example.com',
    permissions: { role: 'editor', canChangeProtected: true, confirmed: [], ...more },
  };
}

const VIEWER = person({ role: 'viewer', confirmed: ['production'] });
const UNTRUSTED = person({ canChangeProtected: false, confirmed: ['production'] });
const UNCONFIRMED = person({ confirmed: ['staging'] });
const CONFIRMED = person({ confirmed: ['production'] });

/** An import that turns one flag of production off. */
async function importOf(project: string): Promise<ImportRules> {
  const document = {
    halyard: 1,
    project,
    environments: ['production'],
    flags: { used: { environments: { production: { enabled: false } } } },
  };
  const declaration = await readDeclaration(JSON.stringify(document));
  return { declaration, policy: 'enforce', prune: true, remove: [] };
}

interface Prepared {
  readonly project: string;
  readonly seq: number;
  readonly schedule: string;
}

describe('a protected environment', () => {
  let app: TestApp;
  beforeAll(async () => {
    const [engine] = ENGINES;
    if (engine === undefined) throw new Error('the tests have no engine');
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  /** A project with a flag in use, one that is archived, and a change and a schedule of production. */
  async function prepare(): Promise<Prepared> {
    const { name: project, path } = await app.project();
    for (const key of ['used', 'old']) {
      await app.call('POST', `${path}/flags`, { body: { key, states: { production: { enabled: true } } } });
    }
    await app.call('POST', `${path}/flags/old/archive`);
    await app.call('PUT', `${path}/environments/staging/flags/fresh`, { body: { enabled: true } });
    const changed = await app.call('PUT', `${path}/environments/production/flags/other`, {
      body: { enabled: true },
    });
    const dueAt = new Date(app.node.now + 3_600_000).toISOString();
    const changes = [{ key: 'used', state: null }];
    const made = await app.call('POST', `${path}/schedules`, {
      body: { environment: 'production', dueAt, changes },
    });
    return { project, seq: changed.json.seq, schedule: made.json.id };
  }

  const writes: Readonly<Record<string, (actor: Actor, prepared: Prepared) => Promise<unknown>>> = {
    archive: (actor, { project }) => archiveFlag(app.context, actor, { project, key: 'used' }),
    restore: (actor, { project }) => restoreFlag(app.context, actor, { project, key: 'old' }),
    copy: (actor, { project }) =>
      copyStates(app.context, actor, {
        project,
        environment: 'production',
        from: 'staging',
        extras: 'keep',
        expected: {},
        mode: 'apply',
      }),
    revert: (actor, { seq }) => revertChange(app.context, actor, { seq, conflicts: 'refuse', mode: 'apply' }),
    schedule: (actor, { project }) =>
      createSchedule(app.context, actor, {
        project,
        environment: 'production',
        dueAt: app.node.now + 1000,
        steps: [{ key: 'used', state: null }],
      }),
    import: async (actor, { project }) => importDeclaration(app.context, actor, await importOf(project)),
    unprotect: (actor, { project }) =>
      updateEnvironment(app.context, actor, {
        project,
        environment: 'production',
        appearance: { protected: false },
      }),
  };

  describe.each(Object.entries(writes))('%s', (_name, write) => {
    test.each([
      ['a viewer', VIEWER, 'forbidden'],
      ['an editor without the permission', UNTRUSTED, 'forbidden'],
      ['an editor who has not confirmed it', UNCONFIRMED, 'confirmation_required'],
    ] as const)('%s is refused, and nothing is changed', async (_who, actor, code) => {
      const prepared = await prepare();
      const before = await app.call('GET', `/api/projects/${prepared.project}/flags?archived=all`);
      const refusal = await write(actor, prepared).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(refusal instanceof ServiceError && refusal.code).toBe(code);
      const after = await app.call('GET', `/api/projects/${prepared.project}/flags?archived=all`);
      expect(after.json).toEqual(before.json);
    });

    test('can be changed by an editor with the permission and a confirmation', async () => {
      const prepared = await prepare();
      expect(await write(CONFIRMED, prepared)).toHaveProperty('seq', expect.any(Number));
    });
  });

  test('needs no confirmation for reads and previews', async () => {
    const { project, seq } = await prepare();
    const place = { project, environment: 'production', from: 'staging' } as const;
    const copied = await copyStates(app.context, UNCONFIRMED, {
      ...place,
      extras: 'keep',
      expected: {},
      mode: 'preview',
    });
    expect(copied.differences).toHaveLength(1);
    const reverted = await revertChange(app.context, UNCONFIRMED, {
      seq,
      conflicts: 'refuse',
      mode: 'preview',
    });
    expect(reverted.differences).toHaveLength(1);
    const imported = await previewImport(app.context, UNCONFIRMED, await importOf(project));
    expect(imported.notAllowed).toEqual([]);
    expect(imported.plan.changes.map(({ key, action }) => [key, action])).toEqual([
      ['other', 'delete'],
      ['used', 'update'],
    ]);
  });

  test('needs no confirmation for an import that creates its project', async () => {
    const admin = { ...UNCONFIRMED, permissions: { ...UNCONFIRMED.permissions, role: 'admin' } } as const;
    const imported = await importDeclaration(app.context, admin, await importOf('brand-new'));
    expect(imported.plan.environmentsCreated.map(({ name }) => name)).toEqual(['production']);
  });

  test('cancelling a schedule needs the permission, but no confirmation', async () => {
    const { project, schedule: id } = await prepare();
    const refusal = await cancelSchedule(app.context, UNTRUSTED, { project, id }).catch(
      (error: unknown) => error,
    );
    expect(refusal instanceof ServiceError && refusal.code).toBe('forbidden');
    const cancelled = await cancelSchedule(app.context, UNCONFIRMED, { project, id });
    expect(cancelled.status).toBe('cancelled');
  });

  test('only an administrator can revert what only administrators can do', async () => {
    const { path } = await app.project();
    const recolored = await app.call('PATCH', `${path}/environments/staging`, { body: { color: 'pink' } });
    const undo = (actor: Actor) =>
      revertChange(app.context, actor, { seq: recolored.json.seq, conflicts: 'refuse', mode: 'apply' });
    const refusal = await undo(CONFIRMED).catch((error: unknown) => error);
    expect(refusal instanceof ServiceError && refusal.code).toBe('forbidden');
    expect(await undo(person({ role: 'admin' }))).toHaveProperty('seq');
  });
});
