import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { openTestApp, type TestApp } from './test-app.ts';

setDefaultTimeout(60_000);

/** The query that an operation of the document insists on. */
function requiredQuery(operation: unknown): string {
  const values: Readonly<Record<string, string>> = { q: 'web', from: 'staging', to: 'production' };
  // The document is our own; its other test checks its shape.
  const { parameters = [] } = operation as {
    readonly parameters?: readonly {
      readonly in: string;
      readonly name: string;
      readonly required?: boolean;
    }[];
  };
  const needed = parameters.filter((one) => one.in === 'query' && one.required === true);
  if (needed.length === 0) return '';
  return `?${new URLSearchParams(Object.fromEntries(needed.map(({ name }) => [name, values[name] ?? ''])))}`;
}

describe.each(ENGINES)('the management interface on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  describe('projects and environments', () => {
    test('a new project has the three environments, at revision 0', async () => {
      const made = await app.call('POST', '/api/projects', { body: { name: 'shop' } });
      expect(made.status).toBe(201);
      expect(made.json.environments.map((one: { name: string }) => one.name)).toEqual([
        'development',
        'staging',
        'production',
      ]);
      expect(made.json.environments[0].revision).toBe(0);
      expect(new Date(made.json.createdAt).toISOString()).toBe(made.json.createdAt);
      const { seq, ...record } = made.json;
      expect(seq).toBeNumber();
      expect((await app.call('GET', '/api/projects/shop')).json).toEqual(record);
      const listed = await app.call('GET', '/api/projects');
      expect(listed.json.projects).toContainEqual({ name: 'shop', createdAt: made.json.createdAt });
    });

    test.each([
      [{ name: 'Shop' }, 'lower-case'],
      [{ name: '-a' }, 'beginning with'],
      [{ name: '' }, '1 to 64'],
      [{ name: 'a'.repeat(65) }, '1 to 64'],
      [{ name: 1 }, '"name" is not right: expected string'],
      [{}, '"name" is missing'],
      [[], 'The body is not right: expected object'],
      [{ name: 'a', color: 'red' }, 'unknown member "color"'],
    ])('the project %j is refused', async (body, sentence) => {
      const { status, json } = await app.call('POST', '/api/projects', { body });
      expect([status, json.error]).toEqual([400, 'invalid_argument']);
      expect(json.message).toContain(sentence);
    });

    test('a name is taken once, and free again after deletion', async () => {
      const { name, path } = await app.project();
      expect((await app.call('POST', '/api/projects', { body: { name } })).json.error).toBe('already_exists');
      expect((await app.call('DELETE', path)).status).toBe(204);
      expect((await app.call('GET', path)).json.error).toBe('project_not_found');
      expect((await app.call('DELETE', path)).status).toBe(404);
      expect((await app.call('POST', '/api/projects', { body: { name } })).status).toBe(201);
    });

    test('an environment is made with its looks, or with those of its name', async () => {
      const { path } = await app.project();
      const looks = { protected: true, color: 'violet' };
      const made = await app.call('POST', `${path}/environments`, { body: { name: 'live', ...looks } });
      expect([made.status, made.json]).toMatchObject([201, { name: 'live', ...looks }]);
      const plain = await app.call('POST', `${path}/environments`, { body: { name: 'preview' } });
      expect(plain.json).toMatchObject({ protected: false, color: 'gray' });
      const odd = await app.call('POST', `${path}/environments`, { body: { name: 'odd', color: 'beige' } });
      expect([odd.status, odd.json.error]).toEqual([400, 'invalid_argument']);
    });

    test('a recreated environment is empty and counts on', async () => {
      const { path } = await app.project();
      await app.call('PUT', `${path}/environments/staging/flags/a`, { body: { enabled: true } });
      expect((await app.call('DELETE', `${path}/environments/staging`)).status).toBe(204);
      expect((await app.call('GET', `${path}/environments/staging/flags`)).json.error).toBe(
        'environment_not_found',
      );
      const made = await app.call('POST', `${path}/environments`, { body: { name: 'staging' } });
      expect([made.status, made.json.name]).toEqual([201, 'staging']);
      expect(made.json.revision).toBeGreaterThan(1);
      expect((await app.call('GET', `${path}/environments/staging/flags`)).json.flags).toEqual([]);
      const again = await app.call('POST', `${path}/environments`, { body: { name: 'staging' } });
      expect([again.status, again.json.error]).toEqual([409, 'already_exists']);
    });
  });

  describe('flags', () => {
    test('a flag is made with its states, described anew, and removed everywhere', async () => {
      const { path } = await app.project();
      const body = {
        key: 'dark-mode',
        description: 'Night',
        tags: ['ui'],
        states: { production: { enabled: true, value: 1 }, staging: { enabled: false } },
      };
      const made = await app.call('POST', `${path}/flags`, { body });
      expect(made.status).toBe(201);
      expect(made.json).toMatchObject({ key: 'dark-mode', description: 'Night', tags: ['ui'] });
      expect(made.json.environments.production).toMatchObject({
        state: { enabled: true, value: 1 },
        revision: 1,
      });
      expect(Object.keys(made.json.environments)).toEqual(['staging', 'production']);
      expect((await app.call('POST', `${path}/flags`, { body })).json.error).toBe('already_exists');
      const patched = await app.call('PATCH', `${path}/flags/dark-mode`, { body: { tags: [] } });
      expect(patched.json).toMatchObject({ description: 'Night', tags: [] });
      const { seq, ...record } = patched.json;
      expect(seq).toBeGreaterThan(made.json.seq);
      expect((await app.call('GET', `${path}/flags/dark-mode`)).json).toEqual(record);
      expect((await app.call('GET', `${path}/flags`)).json.flags).toEqual([record]);
      expect((await app.call('POST', `${path}/flags/dark-mode/archive`)).status).toBe(200);
      expect((await app.call('DELETE', `${path}/flags/dark-mode`)).status).toBe(204);
      expect((await app.call('GET', `${path}/flags`)).json.flags).toEqual([]);
      for (const [environment, revision] of [
        ['production', 2],
        ['staging', 2],
        ['development', 0],
      ] as const) {
        const states = await app.call('GET', `${path}/environments/${environment}/flags`);
        expect(states.json).toEqual({ environment, revision, flags: [] });
      }
      expect((await app.call('DELETE', `${path}/flags/dark-mode`)).json.error).toBe('flag_not_found');
    });

    test.each([
      [{ key: 'a b' }, 'cannot be a flag key'],
      [{ key: '__proto__' }, 'cannot be a flag key'],
      [{ key: 'a', tags: ['x', 'x'] }, 'one tag twice'],
      [{ key: 'a', tags: [' x'] }, 'a tag is'],
      [{ key: 'a', tags: 'x' }, '"tags" is not right'],
      [{ key: 'a', description: 'x'.repeat(2001) }, 'at most 2000'],
      [{ key: 'a', description: 'a\0b' }, 'U+0000'],
      [{ key: 'a', description: 'a\ud800b' }, 'half of a surrogate pair'],
      [{ key: 'a', states: { production: { enabled: 'yes' } } }, '"states.production.enabled"'],
      [
        { key: 'a', states: { production: { enabled: true, rolloutPct: 101 } } },
        '"states.production.rolloutPct"',
      ],
    ])('the flag %j is refused', async (body, sentence) => {
      const { path } = await app.project();
      const { status, json } = await app.call('POST', `${path}/flags`, { body });
      expect([status, json.error]).toEqual([400, 'invalid_argument']);
      expect(json.message).toContain(sentence);
      expect((await app.call('GET', `${path}/flags`)).json.flags).toEqual([]);
    });

    test('of several who make the same flag at once, one succeeds', async () => {
      const { path } = await app.project();
      // Several rounds, because the connections of the first may still be opening one after another.
      for (const key of ['a', 'b', 'c', 'd', 'e']) {
        const making = Array.from({ length: 4 }, (_, index) =>
          app.call('POST', `${path}/flags`, { body: { key, description: String(index) } }),
        );
        const statuses = (await Promise.all(making)).map(({ status }) => status).sort();
        expect(statuses).toEqual([201, 409, 409, 409]);
      }
    });

    test('an environment that is not there leaves no half-made flag', async () => {
      const { path } = await app.project();
      const body = { key: 'a', states: { production: { enabled: true }, moon: { enabled: true } } };
      expect((await app.call('POST', `${path}/flags`, { body })).json.error).toBe('environment_not_found');
      expect((await app.call('GET', `${path}/flags/a`)).json.error).toBe('flag_not_found');
    });
  });

  describe('flag states', () => {
    test.each([
      '{"10":1,"9":2,"a":3}',
      '{"a":1,"a":2}',
      '12345678901234567890.10',
      '[1.0,-0,1E+2]',
      '"\\u0000\\ud800"',
      '{"__proto__":{"x":null}}',
      'null',
    ])('the value %s comes back as it was sent', async (value) => {
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

    test('a state is written, read and removed; the same state again is no change', async () => {
      const { path } = await app.project();
      const flag = `${path}/environments/production/flags/a`;
      const first = await app.call('PUT', flag, { body: { enabled: true, rolloutPct: 12.5 } });
      expect(first.json).toMatchObject({ key: 'a', revision: 1, changed: true, environmentRevision: 1 });
      expect(first.headers.get('ETag')).toBe('"1"');
      await app.call('PUT', `${path}/environments/production/flags/b`, { body: { enabled: true } });
      const again = await app.call('PUT', flag, { body: { rolloutPct: 12.5, enabled: true } });
      const { seq, ...record } = first.json;
      expect(seq).toBeNumber();
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
      expect((await app.call('DELETE', flag)).status).toBe(204);
      expect((await app.call('GET', flag)).json.error).toBe('flag_not_found');
      expect((await app.call('DELETE', flag)).json.error).toBe('flag_not_found');
      expect((await app.call('GET', `${path}/flags/a`)).status).toBe(200);
    });

    test('a patch changes what it names and nothing else', async () => {
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
      ['PUT', '{"enabled":null}', '"enabled" is not right'],
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

    test('a new flag needs a proper key, also when a state makes it', async () => {
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
      ['DELETE', 'If-Match', '"1"', 204],
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

    test('nothing at all matches no revision', async () => {
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
        '"changes[0].state.enabled" is not right: expected boolean',
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

  describe('keys', () => {
    test('a key is shown once: no other answer holds it or its digest', async () => {
      const { name, path } = await app.project();
      const body = { name: 'web', environments: ['staging', 'production', 'staging'] };
      const made = await app.call('POST', `${path}/keys`, { body });
      expect([made.status, made.headers.get('Cache-Control')]).toEqual([201, 'no-store']);
      const { key, ...record } = made.json;
      expect(key).toMatch(/^proj_live_[0-9A-Za-z]{49}$/);
      expect(record).toMatchObject({
        name: 'web',
        environments: ['production', 'staging'],
        status: 'active',
      });
      expect(record.lastFour).toBe(key.slice(-4));
      const token = (await app.call('POST', '/api/tokens', { body: { name: `of ${name}` } })).json.token;
      await app.call('DELETE', `/api/keys/${record.id}`);
      const secrets = [key, token, Bun.SHA256.hash(key, 'hex'), Bun.SHA256.hash(token, 'hex')];
      const { paths } = (await app.call('GET', '/api/openapi.json')).json;
      const values = { project: name, environment: 'production', id: record.id, key: 'x', seq: '1' };
      for (const [template, operations] of Object.entries<object>(paths)) {
        if (!('get' in operations) || !template.startsWith('/api')) continue;
        // `keyof`: a parameter that is none of these makes the path wrong, and the expectation below fails.
        const filled = template.replaceAll(/\{(\w+)\}/g, (_, part) => values[part as keyof typeof values]);
        const answer = await app.call('GET', filled + requiredQuery(operations.get));
        expect([filled, [200, 404].includes(answer.status)]).toEqual([filled, true]);
        for (const secret of secrets) expect(answer.text).not.toContain(secret);
      }
      for (const secret of secrets) expect(app.logged.join()).not.toContain(secret);
      const stored = JSON.stringify(await app.home.database.query('SELECT * FROM project_keys, audit_log'));
      expect(stored).not.toContain(key);
    });

    test('revoking is for good and may be repeated', async () => {
      const { path } = await app.project();
      const { json } = await app.call('POST', `${path}/keys`, {
        body: { name: 'k', environments: ['staging'] },
      });
      const first = await app.call('DELETE', `/api/keys/${json.id}`);
      expect([first.status, first.json.status]).toEqual([200, 'revoked']);
      app.node.now += 5000;
      const { seq, ...record } = first.json;
      expect(seq).toBeNumber();
      expect((await app.call('DELETE', `/api/keys/${json.id}`)).json).toEqual(record);
      expect((await app.call('GET', `/api/keys/${json.id}`)).json).toEqual(record);
      expect((await app.call('GET', '/api/keys/none')).json.error).toBe('key_not_found');
      expect((await app.call('DELETE', '/api/keys/none')).json.error).toBe('key_not_found');
    });

    test('an expired key says so', async () => {
      const { path } = await app.project();
      const expiresAt = new Date(app.node.now + 1000).toISOString();
      const body = { name: 'k', environments: ['staging'], expiresAt };
      const made = await app.call('POST', `${path}/keys`, { body });
      expect(made.json).toMatchObject({ status: 'active', expiresAt });
      app.node.now += 1000;
      expect((await app.call('GET', `${path}/keys`)).json.keys[0].status).toBe('expired');
    });

    test.each([
      [{ name: '', environments: ['staging'] }, 400, '"name" must be'],
      [{ name: 'a\nb', environments: ['staging'] }, 400, '"name" must be'],
      [{ name: 'k', environments: [] }, 400, 'at least one environment'],
      [{ name: 'k' }, 400, '"environments" is missing'],
      [{ name: 'k', environments: ['moon'] }, 404, 'no environment "moon"'],
      [{ name: 'k', environments: ['staging'], expiresAt: '2001-01-01T00:00:00Z' }, 400, 'not in the future'],
      [{ name: 'k', environments: ['staging'], expiresAt: 'tomorrow' }, 400, 'ISO 8601'],
      [{ name: 'k', environments: ['staging'], expiresAt: 2e12 }, 400, 'ISO 8601'],
    ])('the key %j is refused', async (body, status, sentence) => {
      const { path } = await app.project();
      const answer = await app.call('POST', `${path}/keys`, { body });
      expect(answer.status).toBe(status);
      expect(answer.json.message).toContain(sentence);
      expect((await app.call('GET', `${path}/keys`)).json.keys).toEqual([]);
    });
  });

  describe('the audit log', () => {
    test('tells who, why and what, and is read in pages', async () => {
      const { name, path } = await app.project();
      const flag = `${path}/environments/production/flags/a`;
      for (const value of [1, 2, 3]) {
        // As a command line sends it: the bytes of UTF-8, one character each.
        const note = Buffer.from(`größer ${value}`).toString('latin1');
        await app.call('PUT', flag, { body: { enabled: true, value }, headers: { 'X-Change-Note': note } });
      }
      const query = `/api/audit?project=${name}&environment=production&target=a`;
      const [newest, ...older] = (await app.call('GET', query)).json.entries;
      expect(newest).toMatchObject({
        actor: 'token:admin',
        action: 'flag.changed',
        note: 'größer 3',
        project: name,
        environment: 'production',
        before: { enabled: true, value: 2 },
        after: { enabled: true, value: 3 },
      });
      expect(older.map((entry: { note: string }) => entry.note)).toEqual(['größer 2', 'größer 1']);
      const unset = await app.call('GET', `${query}&before=`);
      expect([unset.status, unset.json.error]).toEqual([400, 'invalid_argument']);
      const page = await app.call('GET', `${query}&before=${newest.seq}&limit=1`);
      expect(page.json.entries).toEqual([older[0]]);
    });

    test('behind a trusted proxy it tells the address that the proxy saw, not what the caller claims', async () => {
      const { name, path } = await app.project();
      const flag = `${path}/environments/production/flags/a`;
      const headers = { 'X-Forwarded-For': '198.51.100.7, 203.0.113.9' };
      await app.call('PUT', flag, { body: { enabled: true }, headers });
      const [entry] = (await app.call('GET', `/api/audit?project=${name}&target=a&limit=1`)).json.entries;
      expect(entry.ip).toBe('203.0.113.9');
    });

    test.each([
      ['limit=0', 400],
      ['limit=many', 400],
      ['limit=1&limit=2', 400],
      ['enviroment=production', 400],
      ['environment=production', 400],
      ['project=none', 404],
    ])('the query %s answers %i', async (query, status) => {
      expect((await app.call('GET', `/api/audit?${query}`)).status).toBe(status);
    });
  });
});
