import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openTestApp, type TestApp, type TestRequest } from '../../management/api/test-app.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('history on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  const on = { enabled: true };
  const off = { enabled: false };
  const revert = (seq: number, body: object = {}, query = '') =>
    app.call('POST', `/api/changes/${seq}/revert${query}`, { body });

  const done: TestApp['done'] = (...request) => app.done(...request);

  async function stateOf(path: string, key: string, environment = 'production') {
    return (await app.call('GET', `${path}/environments/${environment}/flags/${key}`)).json.state;
  }

  const put = (path: string, key: string, body: object, headers = {}) =>
    done('PUT', `${path}/environments/production/flags/${key}`, { body, headers });

  describe('a request under a reference', () => {
    const found = async (reference: string, request: TestRequest = {}) =>
      (await app.call('GET', `/api/changes?reference=${reference}`, request)).json;

    test('is found with the changes that it made, each once, and by its own actor only', async () => {
      const { path } = await app.project();
      const reference = crypto.randomUUID();
      const headers = { 'X-Change-Reference': reference };
      const { seq } = await put(path, 'a', on, headers);
      expect(await found(reference)).toEqual({
        changes: [{ seq, at: expect.stringMatching(/^\d{4}-.*Z$/) }],
        running: false,
      });
      await put(path, 'a', on, headers);
      expect((await found(reference)).changes).toHaveLength(1);
      await done('POST', `${path}/flags/archive`, { body: { keys: ['a'] }, headers });
      expect((await found(reference)).changes).toHaveLength(2);
      const { token } = await done('POST', '/api/tokens', { body: { name: reference, role: 'admin' } });
      expect(await found(reference, { token })).toEqual({ changes: [], running: false });
      expect(await found(crypto.randomUUID())).toEqual({ changes: [], running: false });
    });

    test('is running until its answer is ready', async () => {
      const { path } = await app.project();
      const reference = crypto.randomUUID();
      const { token } = await done('POST', '/api/tokens', { body: { name: reference, role: 'admin' } });
      const applied = Promise.withResolvers<void>();
      const waits = Promise.withResolvers<void>();
      app.node.waitForApplied = () => {
        waits.resolve();
        return applied.promise;
      };
      const written = put(path, 'a', on, { 'X-Change-Reference': reference });
      await waits.promise;
      const [own, other] = [await found(reference), await found(reference, { token })];
      app.node.waitForApplied = async () => {};
      applied.resolve();
      await written;
      expect(own).toMatchObject({ changes: [{}], running: true });
      expect(other).toEqual({ changes: [], running: false });
      expect((await found(reference)).running).toBe(false);
    });

    test('changes nothing once its caller has closed it, and is told so', async () => {
      const { path } = await app.project();
      const reference = crypto.randomUUID();
      const close = () => done('POST', `/api/changes/close?reference=${reference}`);
      const headers = { 'X-Change-Reference': reference };
      const request = { body: on, headers };
      let closed: unknown;
      app.node.beforeCommit = async () => {
        closed ??= await close();
      };
      const late = await app.call('PUT', `${path}/environments/production/flags/a`, request);
      app.node.beforeCommit = async () => {};
      expect([closed, late.status, late.json]).toEqual([
        { changes: [], closed: true },
        400,
        expect.objectContaining({ message: expect.stringContaining('is closed') }),
      ]);
      expect(await found(reference)).toEqual({ changes: [], running: false });

      headers['X-Change-Reference'] = crypto.randomUUID();
      const { seq } = await put(path, 'a', on, headers);
      const made = await done('POST', `/api/changes/close?reference=${headers['X-Change-Reference']}`);
      expect(made).toMatchObject({ changes: [{ seq }], closed: false });
    });

    test.each(['short', 'with spaces in it', 'x'.repeat(65)])(
      'refuses the reference %j',
      async (reference) => {
        const { path } = await app.project();
        const headers = { 'X-Change-Reference': reference };
        const answer = await app.call('PUT', `${path}/environments/production/flags/a`, {
          body: on,
          headers,
        });
        expect([answer.status, answer.json.error]).toEqual([400, 'invalid_argument']);
        const query = encodeURIComponent(reference);
        expect((await app.call('GET', `/api/changes?reference=${query}`)).status).toBe(400);
        expect((await app.call('POST', `/api/changes/close?reference=${query}`)).status).toBe(400);
      },
    );
  });

  describe('a change', () => {
    test('is returned with everything that its operation changed', async () => {
      const { name, path } = await app.project();
      const { seq } = await put(path, 'a', on, { 'X-Change-Note': 'launch' });
      const { status, json } = await app.call('GET', `/api/changes/${seq}`);
      expect(status).toBe(200);
      expect(json).toMatchObject({
        seq,
        actor: 'token:admin',
        note: 'launch',
        project: name,
        environment: 'production',
        revision: 1,
        revertible: true,
      });
      expect(json.entries.map((one: { action: string }) => one.action)).toEqual([
        'flag.created',
        'flag.changed',
      ]);
    });

    test('in several environments is one change, whichever of its rows is requested', async () => {
      const { name, path } = await app.project();
      const states = { production: on, staging: off };
      const { seq } = await done('POST', `${path}/flags`, { body: { key: 'a', states } });
      const last = await app.call('GET', `/api/changes/${seq}`);
      expect(last.json.entries).toHaveLength(3);
      expect([last.json.environment, last.json.revision]).toEqual([undefined, undefined]);
      expect((await app.call('GET', `/api/changes/${seq - 1}`)).json).toEqual(last.json);
      const listed = (await app.call('GET', `/api/audit?project=${name}&target=a`)).json.entries;
      expect(listed.map((one: { operation: number }) => one.operation)).toEqual([seq, seq, seq]);
    });

    test.each(['999999999', '0', '-1', 'x', '1.5'])('%s does not exist', async (seq) => {
      const expected = /^\d+$/.test(seq) ? [404, 'not_found'] : [400, 'invalid_argument'];
      const read = await app.call('GET', `/api/changes/${seq}`);
      expect([read.status, read.json.error]).toEqual(expected);
      const undone = await app.call('POST', `/api/changes/${seq}/revert`, { body: {} });
      expect([undone.status, undone.json.error]).toEqual(expected);
      const delivery = await app.call('GET', `/api/changes/${seq}/delivery`);
      expect([delivery.status, delivery.json.error]).toEqual(expected);
      if (expected[0] !== 404) return;
      const message = `Change ${seq} does not exist. Find its number with "halyard audit" or GET /api/audit.`;
      for (const { json } of [read, undone, delivery]) expect(json.message).toBe(message);
    });
  });

  describe('a revert', () => {
    test('returns the same differences as its preview', async () => {
      const { path } = await app.project();
      const states = { development: on, staging: on, production: on };
      await done('POST', `${path}/flags`, { body: { key: 'a', states } });
      await done('POST', `${path}/flags/a/archive`);
      const { seq } = await done('POST', `${path}/flags/a/restore`);
      const preview = await revert(seq, {}, '?dryRun=true');
      expect((await revert(seq)).json.differences).toEqual(preview.json.differences);
    });

    test('restores a state with a new change, which can itself be reverted', async () => {
      const { path } = await app.project();
      await put(path, 'a', off);
      const { seq } = await put(path, 'a', on);
      const undone = await revert(seq);
      expect(undone.json).toEqual({
        seq: expect.any(Number),
        differences: [{ environment: 'production', key: 'a', before: on, after: off }],
      });
      expect(await stateOf(path, 'a')).toEqual(off);
      const change = await app.call('GET', `/api/changes/${undone.json.seq}`);
      expect(change.json).toMatchObject({ note: `Reverts change ${seq}`, revertible: true });
      const redone = await revert(undone.json.seq);
      expect(redone.status).toBe(200);
      expect(await stateOf(path, 'a')).toEqual(on);
    });

    test('adds the note of the caller to its own', async () => {
      const { path } = await app.project();
      const { seq } = await put(path, 'a', on);
      const headers = { 'X-Change-Note': 'errors went up' };
      const undone = await done('POST', `/api/changes/${seq}/revert`, { body: {}, headers });
      const change = await app.call('GET', `/api/changes/${undone.seq}`);
      expect(change.json.note).toBe(`Reverts change ${seq}: errors went up`);
      expect(await stateOf(path, 'a')).toBeUndefined();
    });

    test('can be previewed', async () => {
      const { path } = await app.project();
      const { seq } = await put(path, 'a', on);
      const tried = await revert(seq, {}, '?dryRun=true');
      expect(tried.json).toEqual({ differences: [{ environment: 'production', key: 'a', before: on }] });
      expect(await stateOf(path, 'a')).toEqual(on);
      expect((await revert(seq, {}, '?dryRun=perhaps')).json.error).toBe('invalid_argument');
    });

    test('covers many flags in several environments', async () => {
      const { name, path } = await app.project();
      const flags = Object.fromEntries(
        Array.from({ length: 30 }, (_, index) => [
          `f${index}`,
          { environments: { production: on, staging: { enabled: true, value: index } } },
        ]),
      );
      const document = { halyard: 1, project: name, environments: ['production', 'staging'], flags };
      await done('POST', '/api/import', { body: document });
      const emptied = { ...document, flags: {} };
      const { seq } = await done('POST', '/api/import?policy=enforce&prune=true', { body: emptied });
      const before = await app.call('GET', `${path}/environments/staging/flags`);
      expect(before.json.flags).toEqual([]);
      const undone = await revert(seq);
      expect([undone.status, undone.json.differences.length]).toEqual([200, 60]);
      for (const environment of ['production', 'staging']) {
        const { json } = await app.call('GET', `${path}/environments/${environment}/flags`);
        expect(json.flags).toHaveLength(30);
        // One revision for each of: import, emptying, revert.
        expect(json.revision).toBe(3);
      }
      expect(await stateOf(path, 'f7', 'staging')).toEqual({ enabled: true, value: 7 });
      expect((await revert(undone.json.seq)).status).toBe(200);
      expect((await app.call('GET', `${path}/environments/staging/flags`)).json.flags).toEqual([]);
    });

    test('is refused if something changed since, and names it; force overrides that', async () => {
      const { path } = await app.project();
      await put(path, 'a', off);
      const { seq } = await put(path, 'a', on);
      await put(path, 'a', { enabled: true, value: 2 });
      for (const query of ['', '?dryRun=true']) {
        const refused = await revert(seq, {}, query);
        expect([refused.status, refused.json.error]).toEqual([412, 'revision_conflict']);
        expect(refused.json.message).toContain('"a" in production');
      }
      expect(await stateOf(path, 'a')).toEqual({ enabled: true, value: 2 });
      expect((await revert(seq, { force: true })).status).toBe(200);
      expect(await stateOf(path, 'a')).toEqual(off);
      const nothing = await revert(seq, { force: true });
      expect(nothing.json).toEqual({ differences: [] });
    });

    test('restores texts, but nothing that the change did not touch', async () => {
      const { path } = await app.project();
      await done('POST', `${path}/flags`, { body: { key: 'a', description: 'one', tags: ['x'] } });
      const { seq } = await done('PATCH', `${path}/flags/a`, { body: { description: 'two' } });
      await done('PATCH', `${path}/flags/a`, { body: { owner: 'Team A', tags: [] } });
      const undone = await revert(seq);
      expect(undone.json.differences).toEqual([
        { key: 'a', before: { description: 'two' }, after: { description: 'one' } },
      ]);
      expect((await app.call('GET', `${path}/flags/a`)).json).toMatchObject({
        description: 'one',
        owner: 'Team A',
        tags: [],
      });
      await done('PATCH', `${path}/flags/a`, { body: { description: 'three' } });
      expect((await revert(undone.json.seq)).json.error).toBe('revision_conflict');
    });

    test('restores an archived flag, and archives a restored one', async () => {
      const { path } = await app.project();
      await put(path, 'a', on);
      const { seq } = await done('POST', `${path}/flags/a/archive`);
      const undone = await revert(seq);
      expect(undone.json.differences).toEqual([
        { key: 'a', before: { archived: true }, after: { archived: false } },
        { environment: 'production', key: 'a', after: on },
      ]);
      expect(await stateOf(path, 'a')).toEqual(on);
      const redone = await revert(undone.json.seq);
      expect(redone.status).toBe(200);
      expect((await app.call('GET', `${path}/flags/a`)).json.archivedAt).toBeString();
      expect((await revert(undone.json.seq)).json.error).toBe('revision_conflict');
    });

    test('of a deletion recreates the archived flag with its states', async () => {
      const { name, path } = await app.project();
      await done('POST', `${path}/flags`, {
        body: { key: 'a', description: 'kept', owner: 'Team A', tags: ['x'], states: { production: on } },
      });
      const archived = await done('POST', `${path}/flags/a/archive`);
      await done('DELETE', `${path}/flags/a`);
      const [{ seq }] = (await app.call('GET', `/api/audit?project=${name}&limit=1`)).json.entries;
      const undone = await revert(seq);
      expect(undone.status).toBe(200);
      const { seq: _, ...record } = archived;
      expect((await app.call('GET', `${path}/flags/a`)).json).toEqual(record);
      const again = await revert(seq);
      expect([again.status, again.json.error]).toEqual([409, 'not_revertible']);
      expect((await done('POST', `${path}/flags/a/restore`)).environments.production.state).toEqual(on);
      expect((await revert(undone.json.seq)).json.error).toBe('not_revertible');
      await done('POST', `${path}/flags/a/archive`);
      expect((await revert(undone.json.seq)).status).toBe(200);
      expect((await app.call('GET', `${path}/flags/a`)).status).toBe(404);
    });

    test('of a deletion can itself be reverted, but not once the flag has states in other environments', async () => {
      const { path } = await app.project();
      await put(path, 'a', on);
      const deleted = await done('DELETE', `${path}/flags/a?archive=true`);
      const undone = await done('POST', `/api/changes/${deleted.seq}/revert`, { body: {} });
      const staging = `${path}/environments/staging/flags/a`;
      await done('PUT', staging, { body: on });
      for (const force of [false, true]) {
        for (const query of ['', '?dryRun=true']) {
          const again = await revert(undone.seq, { force }, query);
          expect([again.status, again.json.error]).toEqual([409, 'not_revertible']);
        }
      }
      expect([await stateOf(path, 'a'), await stateOf(path, 'a', 'staging')]).toEqual([on, on]);
      expect((await app.call('DELETE', staging)).status).toBe(200);
      expect((await revert(undone.seq)).status).toBe(200);
      expect((await app.call('GET', `${path}/flags/a`)).status).toBe(404);
    });

    test('of a state is refused while its flag is archived, and creates a deleted flag again only with force', async () => {
      const { path } = await app.project();
      await put(path, 'a', off);
      const { seq } = await put(path, 'a', on);
      await done('POST', `${path}/flags/a/archive`);
      expect((await revert(seq, { force: true })).json.error).toBe('flag_archived');
      await app.call('DELETE', `${path}/flags/a`);
      expect((await revert(seq)).json.error).toBe('revision_conflict');
      expect((await revert(seq, { force: true })).status).toBe(200);
      expect(await stateOf(path, 'a')).toEqual(off);
    });

    test('skips deleted environments only with force', async () => {
      const { path } = await app.project();
      const { seq } = await done('POST', `${path}/flags`, {
        body: { key: 'a', states: { production: on, staging: on } },
      });
      await app.call('DELETE', `${path}/environments/staging`);
      expect((await revert(seq)).json.error).toBe('revision_conflict');
      const forced = await revert(seq, { force: true });
      expect(forced.json.differences).toEqual([{ environment: 'production', key: 'a', before: on }]);
    });

    test('of an action without an opposite is refused with the reason', async () => {
      const { path } = await app.project();
      const made = await done('POST', `${path}/environments`, { body: { name: 'preview' } });
      const key = await done('POST', `${path}/keys`, { body: { name: 'k', environments: ['staging'] } });
      const revoked = await done('DELETE', `/api/keys/${key.id}`);
      const flag = await done('POST', `${path}/flags`, { body: { key: 'a' } });
      const other = await app.project();
      const { seq: state } = await put(other.path, 'a', on);
      await app.call('DELETE', other.path);
      for (const [seq, sentence] of [
        [made.seq, 'created an environment'],
        [key.seq, 'revoke the key'],
        [revoked.seq, 'create a new key'],
        [flag.seq, 'archive the flag'],
        [state, 'project has been deleted'],
      ] as const) {
        const refused = await revert(seq, { force: true });
        expect([refused.status, refused.json.error]).toEqual([409, 'not_revertible']);
        expect(refused.json.message).toContain(sentence);
      }
      expect((await app.call('GET', `/api/changes/${flag.seq}`)).json.revertible).toBe(false);
    });
  });
});
