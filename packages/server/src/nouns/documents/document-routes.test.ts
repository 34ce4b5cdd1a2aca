import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openTestApp, type TestApp, type TestRequest } from '../../management/api/test-app.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { readLog } from '../../storage/test-records.ts';

setDefaultTimeout(60_000);

const YAML: TestRequest = { headers: { 'Content-Type': 'application/yaml' } };

describe.each(ENGINES)('import and export on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  const load = (body: unknown, query = '') => app.call('POST', `/api/import${query}`, { body });
  const dump = async (name: string, format = 'json') =>
    (await app.call('GET', `/api/projects/${name}/export?format=${format}`)).text;
  const revisionOf = async (name: string, environment: string) =>
    (await app.call('GET', `/api/projects/${name}/environments/${environment}/flags`)).json.revision;

  /** A project whose names and values are as awkward as they may be. */
  async function awkward(): Promise<string> {
    const { name, path } = await app.project();
    const values = [
      '{"10":1.0,"9":-0,"9":null}',
      '"\\u0000\\ud800: # \\n"',
      '123456789012345678901',
      '[ ]',
      '1e400',
    ];
    const keys = ['true', '123', '1.5', 'a.b-c_d', 'constructor'];
    for (const [index, key] of keys.entries()) {
      const body = `{"enabled":true,"value":${values[index]},"rolloutPct":0.001}`;
      await app.call('PUT', `${path}/environments/production/flags/${key}`, { body });
      await app.call('PUT', `${path}/environments/staging/flags/${key}`, { body: { enabled: false } });
    }
    const text = { description: 'says: "no" # \u2028 ü\n- x', tags: ['yes', '- a', 'ß'], owner: 'Team: "A"' };
    await app.call('PATCH', `${path}/flags/true`, { body: text });
    await app.call('POST', `${path}/flags`, { body: { key: 'nowhere' } });
    return name;
  }

  test.each([
    ['json', {}],
    ['yaml', YAML],
  ] as const)(
    'a project goes through %s and back with nothing lost, however often',
    async (format, request) => {
      const name = await awkward();
      const before = await dump(name, format);
      const again = await app.call('POST', '/api/import?policy=enforce', { ...request, body: before });
      expect(again.status).toBe(200);
      expect(again.json).toMatchObject({ changes: [], flagsCreated: [], flagsUpdated: [], kept: 0 });
      expect(again.json).toMatchObject({ projectCreated: false, environmentsCreated: [] });
      const copied = before.replaceAll(name, `${name}-copy`);
      const made = await app.call('POST', '/api/import', { ...request, body: copied });
      expect(made.json).toMatchObject({ projectCreated: true, policy: 'create-only', dryRun: false });
      expect(made.json.environmentsCreated).toEqual(['development', 'staging', 'production']);
      expect(made.json.changes).toHaveLength(10);
      expect(await dump(`${name}-copy`, format)).toBe(copied);
      expect(await dump(`${name}-copy`)).toBe((await dump(name)).replaceAll(name, `${name}-copy`));
      expect(await revisionOf(`${name}-copy`, 'production')).toBe(1);
      expect(await revisionOf(`${name}-copy`, 'development')).toBe(0);
    },
  );

  test('create-only adds missing states and keeps those that differ', async () => {
    const { name, path } = await app.project();
    await app.call('PUT', `${path}/environments/production/flags/a`, { body: { enabled: true, value: 1 } });
    await app.call('PATCH', `${path}/flags/a`, { body: { description: 'mine' } });
    const flags = {
      a: {
        description: 'theirs',
        environments: { production: { enabled: false }, staging: { enabled: true } },
      },
      b: { environments: { production: { enabled: true } } },
    };
    const { json } = await load({
      halyard: 1,
      project: name,
      environments: ['production', 'staging', 'qa'],
      flags,
    });
    expect(json.changes).toEqual([
      { environment: 'production', key: 'b', action: 'create', after: { enabled: true } },
      { environment: 'staging', key: 'a', action: 'create', after: { enabled: true } },
    ]);
    expect(json).toMatchObject({
      kept: 1,
      environmentsCreated: ['qa'],
      flagsCreated: ['b'],
      flagsUpdated: [],
    });
    const after = (await app.call('GET', `${path}/flags/a`)).json;
    expect(after.description).toBe('mine');
    expect(after.environments.production.state).toEqual({ enabled: true, value: 1 });
  });

  test('the log says which records an import changed beside states, so that open dashboards read them again', async () => {
    const { name, path } = await app.project();
    await app.call('PUT', `${path}/environments/production/flags/a`, { body: { enabled: true } });
    const rowsOf = async (flags: object) => {
      const { database } = app.home;
      const [end] = await database.query<{ seq: number }>('SELECT seq FROM feed');
      const document = { halyard: 1, project: name, environments: ['production'], flags };
      expect((await load(document, '?policy=enforce')).status).toBe(200);
      const rows = await readLog(database, end?.seq ?? 0, 10);
      return rows.map(({ kind, payload }) => [kind, JSON.parse(payload).actions?.sort()]);
    };

    const a = { description: 'new', environments: { production: { enabled: false } } };
    expect(await rowsOf({ a, b: {} })).toEqual([
      ['records.changed', ['flag.changed', 'flag.created', 'flag.updated']],
      ['flags.changed', undefined],
    ]);
    expect(await rowsOf({ a: { description: 'newer' } })).toEqual([['records.changed', ['flag.updated']]]);
    const b = { environments: { production: { enabled: true } } };
    expect(await rowsOf({ b })).toEqual([['flags.changed', undefined]]);
  });

  test('enforce with prune makes the listed environments equal to the document and leaves the others alone', async () => {
    const { name, path } = await app.project();
    const put = (environment: string, key: string) =>
      app.call('PUT', `${path}/environments/${environment}/flags/${key}`, { body: { enabled: true } });
    await Promise.all([
      put('production', 'a'),
      put('production', 'gone'),
      put('production', 'half'),
      put('staging', 'half'),
    ]);
    const flags = { a: { tags: ['x'], environments: { production: { enabled: false } } } };
    const body = { halyard: 1, project: name, environments: ['production'], flags };
    const before = await revisionOf(name, 'production');
    const kept = (await load(body, '?policy=enforce&dryRun=true')).json;
    expect(kept.onlyInProject).toMatchObject({ flags: ['gone', 'half'], states: [] });
    expect(kept.changes.map((one: { key: string }) => one.key)).toEqual(['a']);
    const { json } = await load(body, '?policy=enforce&prune=true');
    expect(json.changes).toEqual([
      {
        environment: 'production',
        key: 'a',
        action: 'update',
        before: { enabled: true },
        after: { enabled: false },
      },
      { environment: 'production', key: 'gone', action: 'delete', before: { enabled: true } },
      { environment: 'production', key: 'half', action: 'delete', before: { enabled: true } },
    ]);
    expect(json).toMatchObject({ kept: 0, flagsArchived: [] });
    expect(json.flagsUpdated).toEqual([{ key: 'a', before: { tags: [] }, after: { tags: ['x'] } }]);
    expect(await revisionOf(name, 'production')).toBe(before + 1);
    expect(await revisionOf(name, 'staging')).toBe(1);
    expect((await app.call('GET', `${path}/flags/gone`)).json.environments).toEqual({});
    expect(Object.keys((await app.call('GET', `${path}/flags/half`)).json.environments)).toEqual(['staging']);
  });

  test('keeps an owner that the document does not name, and enforces one that it names', async () => {
    const { name, path } = await app.project();
    await app.call('POST', `${path}/flags`, { body: { key: 'a', owner: 'Team A' } });
    const document = (flag: object) => ({ halyard: 1, project: name, environments: [], flags: { a: flag } });
    const ownerOf = async () => (await app.call('GET', `${path}/flags/a`)).json.owner;
    await load(document({ description: 'x' }), '?policy=enforce');
    expect(await ownerOf()).toBe('Team A');
    await load(document({ owner: 'Team B' }));
    expect(await ownerOf()).toBe('Team A');
    const enforced = await load(document({ owner: 'Team B' }), '?policy=enforce');
    expect([enforced.json.flagsUpdated[0].after.owner, await ownerOf()]).toEqual(['Team B', 'Team B']);
  });

  test('environments that an import creates are guarded by their names', async () => {
    const { name } = await app.project();
    const project = `${name}-made`;
    const environments = ['production', 'preview', 'staging'];
    await load({ halyard: 1, project, environments, flags: {} });
    const made = (await app.call('GET', `/api/projects/${project}`)).json.environments;
    const guards = made.map((one: { name: string; protected: boolean }) => [one.name, one.protected]);
    expect(Object.fromEntries(guards)).toEqual({ preview: false, production: true, staging: false });
  });

  test('a dry run reports what would change and writes nothing', async () => {
    const name = await awkward();
    const tables = ['projects', 'environments', 'flags', 'flag_states', 'change_log', 'audit_log', 'feed'];
    const everything = () =>
      Promise.all(tables.map((table) => app.home.database.query(`SELECT * FROM ${table}`)));
    const body = {
      halyard: 1,
      project: name,
      environments: ['production', 'fresh'],
      flags: { new: { environments: { fresh: { enabled: true } } } },
    };
    const before = await everything();
    const dry = await load(body, '?policy=enforce&prune=true&dryRun=true');
    const dryNew = await load({ ...body, project: `${name}-new` }, '?dryRun=true');
    expect(await everything()).toEqual(before);
    expect(dryNew.json).toMatchObject({ projectCreated: true, dryRun: true });
    const real = await load(body, '?policy=enforce&prune=true&dryRun=false');
    const { seq, ...done } = real.json;
    expect(seq).toBeNumber();
    expect(dry.json).toEqual({ ...done, dryRun: true, plan: expect.any(String), notAllowed: [] });
    expect(real.json.changes).toHaveLength(6);
  });

  test('S25.4 an import with the plan of a dry run does exactly that, or nothing', async () => {
    const { name, path } = await app.project();
    const on = (environment: string, key: string, enabled = true) =>
      app.call('PUT', `${path}/environments/${environment}/flags/${key}`, { body: { enabled } });
    for (const key of ['kept', 'gone', 'other']) await on('staging', key, false);
    const states = { environments: { staging: { enabled: true } } };
    const environments = ['development', 'staging', 'production'];
    const body = { halyard: 1, project: name, environments, flags: { kept: states, other: {} } };
    const rules = 'policy=enforce&prune=true';
    const planOf = async (query = rules) => (await load(body, `?${query}&dryRun=true`)).json.plan as string;
    const refused = async (plan: string, query = rules) => {
      const { status, json } = await load(body, `?${query}&plan=${plan}`);
      expect([status, json.error]).toEqual([412, 'revision_conflict']);
      return json.message as string;
    };
    const revision = await revisionOf(name, 'staging');

    // What the import does not touch does not count; a flag that it archives does.
    const first = await planOf();
    await app.call('PATCH', path, { body: { usage: true } });
    const [, digest] = first.split('-');
    expect(await planOf()).toEndWith(`-${digest}`);
    expect(await refused(await planOf('policy=enforce'))).toContain('the document or the options differ');
    const second = await planOf();
    await on('staging', 'gone');
    expect(await refused(second)).toContain('these have changed: staging/gone. Preview it again.');
    const third = await planOf();
    await on('staging', 'kept');
    expect(await refused(third)).toContain('these have changed: staging/kept.');
    expect(await revisionOf(name, 'staging')).toBe(revision + 2);

    const { status, json } = await load(body, `?${rules}&plan=${await planOf()}`);
    expect([status, json.flagsArchived]).toEqual([200, ['gone']]);
    for (const plan of ['x', '1-', `${third}0`, `${third}&dryRun=true`])
      expect((await load(body, `?${rules}&plan=${plan}`)).json.error).toBe('invalid_argument');
    // The plan of a comparison is that of an import which enforces.
    const { plan } = (await app.call('POST', `/api/diff?prune=true`, { body })).json;
    expect((await load(body, `?${rules}&plan=${plan}`)).status).toBe(200);
  });

  // PostgreSQL gets fewer: its share of a small machine's time goes into the round trips.
  const count = engine.name === 'sqlite' ? 10_000 : 1_000;
  test(`${count} flags fit, and are one change of each environment`, async () => {
    const { name } = await app.project();
    const state = { enabled: true, value: { text: 'x'.repeat(500) } };
    const flags = Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `f${index}`,
        { environments: { production: state, staging: state } },
      ]),
    );
    const body = { halyard: 1, project: name, environments: ['production', 'staging'], flags };
    const { status, json } = await load(body);
    expect([status, json.changes?.length]).toEqual([200, 2 * count]);
    expect(await revisionOf(name, 'production')).toBe(1);
    const yaml = await dump(name, 'yaml');
    const again = await app.call('POST', '/api/import?policy=enforce', { ...YAML, body: yaml });
    expect([again.status, again.json.changes]).toEqual([200, []]);
  });

  const minimal = { halyard: 1, project: 'refused', environments: ['production'], flags: {} };
  const flag = (content: unknown) => ({ ...minimal, flags: { a: content } });
  test.each([
    [{ ...minimal, halyard: 3 }, '"halyard" must be 1'],
    [{ ...minimal, halyard: undefined }, 'The document lacks the member "halyard"'],
    [{ ...minimal, flags: undefined }, 'lacks the member "flags"'],
    [{ ...minimal, owner: 'me' }, 'unknown member "owner"'],
    [flag({ owner: ' me' }), 'flags.a: "owner" must be'],
    [{ ...minimal, project: 'No' }, 'cannot be the name of a project'],
    [{ ...minimal, project: 1 }, '"project" must be a string'],
    [{ ...minimal, environments: 'production' }, '"environments" must be a list'],
    [{ ...minimal, environments: ['a', 'a'] }, 'twice'],
    [{ ...minimal, environments: [{ name: 'a', colour: 'red' }] }, 'unknown member "colour"'],
    [{ ...minimal, environments: [{ name: 'a', color: 'mauve' }] }, 'must be one of gray'],
    [{ ...minimal, environments: [{ protected: true }] }, '"environments[0]" lacks the member "name"'],
    [flag({ archived: 'yes' }), '"flags.a.archived" must be true or false'],
    [{ ...minimal, environments: ['A'] }, 'cannot be the name of an environment'],
    [{ ...minimal, flags: [] }, '"flags" is not an object'],
    [{ ...minimal, flags: { 'a b': {} } }, '"a b" cannot be a flag key'],
    [flag(null), '"flags.a" is not an object'],
    [flag({ state: 1 }), '"flags.a" has an unknown member "state"'],
    [flag({ description: 1 }), '"flags.a.description" must be a string'],
    [flag({ tags: ['x', 'x'] }), 'flags.a: "tags" contains a tag twice'],
    [flag({ environments: { moon: { enabled: true } } }), '"flags.a.environments" has "moon"'],
    [flag({ environments: { production: { enabled: 1 } } }), '"flags.a.environments.production.enabled"'],
    [flag({ environments: { production: { enabled: true, pct: 1 } } }), 'unknown member "pct"'],
    ['{"halyard":1,"halyard":1}', '"halyard" more than once'],
    ['{"halyard":1,"project":"refused","environments":[],"flags":{"a":{},"a":{}}}', '"a" more than once'],
    ['halyard: 1', 'The document is not valid JSON'],
    ['[1]', 'The document is not an object'],
    ['{"name":"package"}', 'The document has an unknown member "name"'],
  ])('rejects the document %j, and names the place', async (body, sentence) => {
    const { status, json } = await load(body);
    expect([status, json.error]).toEqual([400, 'invalid_argument']);
    expect(json.message).toContain(sentence);
    expect((await app.call('GET', '/api/projects/refused')).status).toBe(404);
  });

  test.each(['policy=all', 'dryRun=yes', 'dryrun=true', 'policy=enforce&policy=enforce'])(
    'the query %s is refused: a mistyped dry run must not run',
    async (query) => {
      expect((await load(minimal, `?${query}`)).status).toBe(400);
      expect((await app.call('GET', '/api/projects/refused')).status).toBe(404);
    },
  );

  test('a caller who administers nothing has smaller limits for documents', async () => {
    const { name } = await app.project();
    const token = async (body: object) =>
      (await app.call('POST', '/api/tokens', { body: { name: crypto.randomUUID(), ...body } })).json.token;
    const viewer = await token({ role: 'viewer' });
    const planner = await token({ role: 'admin', only: 'plan' });
    const lines = Array.from({ length: 50_000 }, (_, index) => `  f${index}: {}\n`).join('');
    const yaml = `halyard: 1\nproject: ${name}\nenvironments: []\nflags:\n${lines}`;
    const refused = await app.call('POST', '/api/diff', { ...YAML, body: yaml, token: viewer });
    expect([refused.status, refused.json.message]).toEqual([
      400,
      'The document has more than 250000 YAML tokens: send it as JSON.',
    ]);
    expect((await app.call('POST', '/api/diff', { ...YAML, body: yaml, token: planner })).status).toBe(200);
    const long = { body: ' '.repeat(8 * 1024 * 1024 + 1), token: viewer };
    expect((await app.call('POST', '/api/diff', long)).json.message).toContain('larger than 8388608 bytes');
  });

  test('refuses a caller without a role before the body is read', async () => {
    const { name, path } = await app.project();
    const body = { name: crypto.randomUUID(), projects: [{ project: name, role: 'admin' }] };
    const { token } = (await app.call('POST', '/api/tokens', { body })).json;
    await app.call('DELETE', path);
    for (const at of ['/api/diff', '/api/import']) {
      const endless = new ReadableStream({ pull: () => new Promise(() => {}) });
      const headers = { Authorization: `Bearer ${token}` };
      const answer = await app.request(at, { method: 'POST', headers, body: endless });
      expect([at, answer.status]).toEqual([at, 403]);
    }
  });

  test('refuses a document with too many flags', async () => {
    const flags = Array.from({ length: 100_001 }, (_, index) => `"f${index}":{}`).join();
    const { status, json } = await load(`{"halyard":1,"project":"p","environments":[],"flags":{${flags}}}`);
    expect([status, json.message]).toEqual([
      400,
      'The document has more than 100000 flags: split the project.',
    ]);
  });

  test('an export of a missing project answers 404, and of an unknown format 400', async () => {
    expect((await app.call('GET', '/api/projects/none/export')).json.error).toBe('project_not_found');
    const { path } = await app.project();
    expect((await app.call('GET', `${path}/export?format=xml`)).status).toBe(400);
  });
});
