import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openTestApp, type TestApp } from '../../management/api/test-app.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { ADA } from '../../storage/test-records.ts';
import { readEnvironment } from '../environments/environment-table.ts';
import { readProject } from '../projects/project-table.ts';
import { changeStates } from './change-states.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('flag states and changes on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  describe('flag states', () => {
    test.each([
      '{"10":1,"9":2,"a":3}',
      '{"a":1,"a":2}',
      '12345678901234567890.10',
      '[1.0,-0,1E+2]',
      '"\\u0000\\ud800"',
      '{"__proto__":{"x":null}}',
      'null',
    ])('the value %s is returned as it was sent', async (value) => {
      const { path, name } = await app.project();
      const production = `${path}/environments/production`;
      const put = await app.call('PUT', `${production}/flags/a`, {
        body: ` {"value" : ${value}, "enabled":true}`,
      });
      expect(put.status).toBe(200);
      const state = `"state":{"enabled":true,"value":${value}}`;
      expect(put.text).toContain(state);
      const patched = await app.call('PATCH', `${production}/flags/b`, { body: `{"value":\n${value}}` });
      expect(patched.text).toContain(`"state":{"enabled":false,"value":${value}}`);
      const body = `{"changes":[{"key":"z","state":null},{"state":{"enabled":true,"value":${value}},"key":"c"}]}`;
      expect((await app.call('POST', `${production}/changes`, { body })).json.changed).toEqual(['c']);
      const made = { key: 'd', states: {} };
      const text = JSON.stringify(made).replace('{}', `{"production":{"enabled":true,"value":${value}}}`);
      expect((await app.call('POST', `${path}/flags`, { body: text })).text).toContain(state);
      const listed = await app.call('GET', `${production}/flags`);
      expect(listed.text.split(`"value":${value}`)).toHaveLength(5);
      expect((await app.call('GET', `/api/audit?project=${name}&target=a`)).text).toContain(
        `"value":${value}`,
      );
      for (const format of ['json', 'yaml']) {
        const exported = await app.call('GET', `${path}/export?format=${format}`);
        expect(exported.text.split(`"value":${value}`)).toHaveLength(5);
      }
    });

    test('a member of a newer version survives changes of other members', async () => {
      const { path, name } = await app.project();
      const flag = `${path}/environments/staging/flags/a`;
      await app.call('PUT', flag, { body: { enabled: false } });
      await app.home.store.commit(ADA, async (transaction) => {
        const { id: projectId = '' } = (await readProject(transaction, name)) ?? {};
        const environment = await readEnvironment(transaction, projectId, 'staging');
        if (environment === undefined) throw new Error('the project has no environment staging');
        const state = '{"enabled":true,"value":1.0,"until":{"at": 1.0}}';
        await changeStates(transaction, environment, [['a', state]]);
      });
      const isNewer = true;
      const patched = await app.call('PATCH', flag, { body: { rolloutPct: 5, unset: ['value'] }, isNewer });
      const stored = '{"enabled":true,"rolloutPct":5,"until":{"at":1.0}}';
      expect(patched.text).toContain(`"state":${stored}`);
      const to = `${path}/environments/development`;
      const copied = await app.call('POST', `${to}/copy`, { body: { from: 'staging' }, isNewer });
      expect(copied.json.changed).toEqual(['a']);
      expect((await app.call('GET', `${to}/flags/a`, { isNewer })).text).toContain(`"state":${stored}`);
      const replaced = await app.call('PUT', flag, { body: { enabled: true }, isNewer });
      expect(replaced.text).toContain(`"before":${stored}`);
      expect(replaced.text).toContain('"state":{"enabled":true}');
    });

    test('a state is written, read and removed; writing the same state is not a change', async () => {
      const { path } = await app.project();
      const flag = `${path}/environments/production/flags/a`;
      const first = await app.call('PUT', flag, { body: { enabled: true, rolloutPct: 12.5 } });
      expect(first.json).toMatchObject({ key: 'a', revision: 1, changed: true, environmentRevision: 1 });
      expect(first.headers.get('ETag')).toBe('"1"');
      await app.call('PUT', `${path}/environments/production/flags/b`, { body: { enabled: true } });
      const again = await app.call('PUT', flag, { body: { rolloutPct: 12.5, enabled: true } });
      const { seq, before, ...record } = first.json;
      expect([seq, before]).toEqual([expect.any(Number), null]);
      expect(again.json).toEqual({ ...record, changed: false, environmentRevision: 2 });
      const read = await app.call('GET', flag);
      const { key, state, revision, updatedAt, updatedBy } = first.json;
      expect(updatedBy).toBe('token:admin');
      expect(read.json).toEqual({ key, state, revision, updatedAt, updatedBy });
      expect(read.headers.get('ETag')).toBe('"1"');
      const listed = await app.call('GET', `${path}/environments/production/flags`);
      expect(listed.headers.get('ETag')).toBe('"2"');
      expect(listed.json.flags.map((one: { key: string }) => one.key)).toEqual(['a', 'b']);
      expect(listed.json.flags[0]).toEqual(read.json);
      const { flags } = (await app.call('GET', `${path}/flags`)).json;
      expect(flags[0].environments).toEqual({ production: { state, revision, updatedAt, updatedBy } });
      expect((await app.call('DELETE', flag)).status).toBe(200);
      expect((await app.call('GET', flag)).json.error).toBe('flag_not_found');
      expect((await app.call('DELETE', flag)).json.error).toBe('flag_not_found');
      expect((await app.call('GET', `${path}/flags/a`)).status).toBe(200);
    });

    test('a patch changes only the members it names', async () => {
      const { path } = await app.project();
      const flag = `${path}/environments/production/flags/a`;
      const patch = async (body: unknown) => (await app.call('PATCH', flag, { body })).json.state;
      expect(await patch({})).toEqual({ enabled: false });
      expect(await patch({ value: [1] })).toEqual({ enabled: false, value: [1] });
      expect(await patch({ enabled: true, rolloutPct: 5 })).toEqual({
        enabled: true,
        value: [1],
        rolloutPct: 5,
      });
      expect(await patch({ value: null })).toEqual({ enabled: true, value: null, rolloutPct: 5 });
      expect(await patch({ unset: ['value', 'rolloutPct'] })).toEqual({ enabled: true });
    });

    test.each([
      ['PUT', '{"enabled":true,"on":1}', 'unknown member "on"'],
      ['PUT', '{"value":1}', '"enabled" is missing'],
      ['PUT', '{"enabled":null}', '"enabled" is not valid'],
      ['PUT', '{"enabled":true,"rolloutPct":12.3456}', 'three decimals'],
      ['PUT', `{"enabled":true,"value":"${'x'.repeat(65_536)}"}`, 'at most 65536'],
      ['PUT', `{"enabled":true,"value":${'['.repeat(33)}${']'.repeat(33)}}`, 'at most 32 levels'],
      ['PUT', '[true]', 'expected object'],
      ['PATCH', '{"unset":["enabled"]}', '"unset[0]"'],
      ['PATCH', '{"value":1,"unset":["value"]}', 'choose one'],
      ['PATCH', '{"rolloutPct":-1}', 'from 0 to 100'],
    ])('%s of a bad body is refused: %#', async (method, body, sentence) => {
      const { path } = await app.project();
      const { status, json } = await app.call(method, `${path}/environments/production/flags/a`, { body });
      expect([status, json.error]).toEqual([400, 'invalid_argument']);
      expect(json.message).toContain(sentence);
      expect((await app.call('GET', `${path}/environments/production/flags`)).json.revision).toBe(0);
    });

    test('a new flag needs a valid key, also when writing a state creates it', async () => {
      const { path } = await app.project();
      const put = await app.call('PUT', `${path}/environments/production/flags/a%20b`, {
        body: { enabled: true },
      });
      expect(put.json.message).toContain('"a b" cannot be a flag key');
    });

    test.each([
      ['PUT', 'If-Match', '"1"', 200],
      ['PUT', 'If-Match', '*', 200],
      ['PUT', 'If-Match', '"9", "1"', 200],
      ['PUT', 'If-Match', '"2"', 412],
      ['PUT', 'If-Match', 'W/"1"', 412],
      ['PUT', 'If-Match', '1', 400],
      ['PUT', 'If-None-Match', '*', 412],
      ['PUT', 'If-None-Match', '"1"', 400],
      ['PATCH', 'If-Match', '"1"', 200],
      ['PATCH', 'If-Match', '"2"', 412],
      ['DELETE', 'If-Match', '"1"', 200],
      ['DELETE', 'If-Match', '"2"', 412],
    ])('%s of a state at revision 1 with %s: %s answers %i', async (method, header, tag, status) => {
      const { path } = await app.project();
      const flag = `${path}/environments/production/flags/a`;
      await app.call('PUT', flag, { body: { enabled: true }, headers: { 'If-None-Match': '*' } });
      const body = method === 'DELETE' ? {} : { body: { enabled: false } };
      const answer = await app.call(method, flag, { ...body, headers: { [header]: tag } });
      expect(answer.status).toBe(status);
      if (status === 412) expect(answer.json.error).toBe('revision_conflict');
      const revision = (await app.call('GET', `${path}/environments/production/flags`)).json.revision;
      expect(revision).toBe(status < 300 ? 2 : 1);
    });

    test('a missing state matches no revision', async () => {
      const { path } = await app.project();
      const flag = `${path}/environments/production/flags/a`;
      for (const tag of ['"0"', '*']) {
        const answer = await app.call('PUT', flag, { body: { enabled: true }, headers: { 'If-Match': tag } });
        expect(answer.json.error).toBe('revision_conflict');
      }
      expect((await app.call('GET', `${path}/flags`)).json.flags).toEqual([]);
    });

    test('of racing writers that saw the same revision, exactly one wins', async () => {
      const { path } = await app.project();
      const flag = `${path}/environments/production/flags/a`;
      let revision = (await app.call('PUT', flag, { body: { enabled: true, value: -1 } })).json.revision;
      for (let round = 0; round < 5; round++) {
        const writing = Array.from({ length: 4 }, (_, writer) =>
          app.call('PATCH', flag, {
            body: { value: [round, writer] },
            headers: { 'If-Match': `"${revision}"` },
          }),
        );
        const answers = await Promise.all(writing);
        const winners = answers.filter(({ status }) => status === 200);
        expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
        expect((await app.call('GET', flag)).json.state).toEqual(winners[0]?.json.state);
        revision = winners[0]?.json.revision;
      }
    });
  });

  describe('changes', () => {
    test('several states are one revision, all or nothing', async () => {
      const { path } = await app.project();
      const changes = `${path}/environments/production/changes`;
      const body = {
        changes: [
          { key: 'a', state: { enabled: true } },
          { key: 'b', state: { enabled: false, value: 'x' } },
        ],
        note: 'launch',
      };
      const first = await app.call('POST', changes, {
        body,
        headers: { 'If-Match': '"0"', 'X-Change-Note': 'no' },
      });
      expect(first.json).toEqual({
        environment: 'production',
        revision: 1,
        changed: ['a', 'b'],
        seq: expect.any(Number),
      });
      expect(first.headers.get('ETag')).toBe('"1"');
      const stale = await app.call('POST', changes, { body, headers: { 'If-Match': '"0"' } });
      expect([stale.status, stale.json.error]).toEqual([412, 'revision_conflict']);
      const half = {
        changes: [
          { key: 'c', state: { enabled: true } },
          { key: 'no way', state: { enabled: true } },
        ],
      };
      expect((await app.call('POST', changes, { body: half })).status).toBe(400);
      const second = {
        changes: [
          { key: 'a', state: null },
          { key: 'b', state: body.changes[1]?.state },
        ],
      };
      const answer = await app.call('POST', changes, { body: second });
      expect(answer.json).toMatchObject({ environment: 'production', revision: 2, changed: ['a'] });
      expect((await app.call('GET', `${path}/flags`)).json.flags).toHaveLength(2);
      const { entries } = (await app.call('GET', `/api/audit?project=${path.split('/').at(-1)}&target=a`))
        .json;
      expect(entries.map((entry: { note?: string }) => entry.note)).toEqual([undefined, 'launch', 'launch']);
    });

    test.each([
      [{ changes: [] }, 'is empty'],
      [{}, '"changes" is missing'],
      [{ changes: [{ key: 'a' }] }, '"changes[0].state'],
      [
        { changes: [{ key: 'a', state: { enabled: 1 } }] },
        '"changes[0].state.enabled" is not valid: expected boolean',
      ],
      [
        { changes: [{ key: 'a', state: { enabled: true, x: 1 } }] },
        '"changes[0].state" has an unknown member "x"',
      ],
      [
        {
          changes: [
            { key: 'a', state: null },
            { key: 'a', state: { enabled: true } },
          ],
        },
        'more than once',
      ],
      [{ changes: [{ key: 'a', state: null }], note: 'x'.repeat(1001) }, 'at most 1000'],
    ])('the change %j is refused', async (body, sentence) => {
      const { path } = await app.project();
      const { status, json } = await app.call('POST', `${path}/environments/production/changes`, { body });
      expect([status, json.error]).toEqual([400, 'invalid_argument']);
      expect(json.message).toContain(sentence);
    });
  });
});
