import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { ENVIRONMENT_COLORS, VALUE_KINDS } from '@halyard/protocol';
import fc from 'fast-check';
import { openTestApp, type TestApp } from '../../management/api/test-app.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { writeDeclaration } from './declaration-text.ts';
import type { DeclaredFlag } from './document.ts';

setDefaultTimeout(60_000);

const ENVIRONMENTS = ['production', 'staging', 'development', 'qa'] as const;

const anyState = fc.oneof(
  fc.constantFrom('{"enabled":true}', '{"enabled":false}', '{"enabled":true,"rolloutPct":12.5}'),
  fc.json({ maxDepth: 2 }).map((value) => `{"enabled":true,"value":${JSON.stringify(JSON.parse(value))}}`),
);

const anyFlag: fc.Arbitrary<DeclaredFlag> = fc
  .record({
    description: fc.string({ unit: 'grapheme', maxLength: 20 }).filter(isClean),
    tags: fc.uniqueArray(fc.stringMatching(/^[a-zäß:"'#-]{1,8}$/), { maxLength: 3 }),
    owner: fc.option(fc.stringMatching(/^[A-Za-z"#][A-Za-z ]{0,8}[a-z]$/), { nil: undefined }),
    permanent: fc.boolean(),
    valueKind: fc.constantFrom(...VALUE_KINDS),
    namedValues: fc
      .uniqueArray(
        fc.tuple(fc.stringMatching(/^[A-Za-z"'#:-][A-Za-z "'#:-]{0,8}[a-z]$/), fc.json({ maxDepth: 2 })),
        { maxLength: 3, selector: ([name]) => name },
      )
      .map((values) => values.map(([name, value], index) => ({ name, value: [index, JSON.parse(value)] })))
      .map((values) => JSON.stringify(values)),
    archived: fc.boolean(),
    states: fc.dictionary(fc.constantFrom(...ENVIRONMENTS.slice(0, 3)), anyState),
  })
  .map(({ owner, states, namedValues, ...flag }) => ({
    ...flag,
    namedValues: ['any', 'json'].includes(flag.valueKind) ? namedValues : '[]',
    states: new Map(Object.entries(states)),
    ...(owner !== undefined && { owner }),
  }));

/** What a JSON body may not have is refused elsewhere. */
function isClean(text: string): boolean {
  return !/\0/.test(text) && text.isWellFormed();
}

const anyDeclaration = fc.record({
  environments: fc
    .shuffledSubarray([...ENVIRONMENTS], { minLength: 4 })
    .chain((names) =>
      fc.tuple(
        ...names.map((name) =>
          fc
            .record({ protected: fc.boolean(), color: fc.constantFrom(...ENVIRONMENT_COLORS) })
            .map((appearance) => ({ name, appearance })),
        ),
      ),
    ),
  flags: fc
    .dictionary(fc.stringMatching(/^[a-z0-9][a-zA-Z0-9._-]{0,10}$/), anyFlag, { maxKeys: 5 })
    .map((flags) => new Map(Object.entries(flags))),
});

describe.each(ENGINES)('flags as code on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  const apply = (body: unknown, query = '?policy=enforce&prune=true', token?: string) =>
    app.call('POST', `/api/import${query}`, { body, ...(token !== undefined && { token }) });
  const diff = (body: unknown, token?: string) =>
    app.call('POST', '/api/diff?prune=true', { body, ...(token !== undefined && { token }) });
  const tokenOf = async (role: string, canChangeProtected = true, more: object = {}): Promise<string> => {
    const body = { name: `${role}-${crypto.randomUUID()}`, role, canChangeProtected, ...more };
    return (await app.call('POST', '/api/tokens', { body })).json.token;
  };

  const numRuns = engine.name === 'sqlite' ? 20 : 5;
  test('any project goes into an empty one and comes out with the same bytes', async () => {
    let count = 0;
    const property = fc.asyncProperty(anyDeclaration, fc.boolean(), async (declared, isYaml) => {
      const project = `round-${++count}`;
      const format = isYaml ? 'yaml' : 'json';
      const text = writeDeclaration({ project, ...declared }, format);
      const headers = { 'Content-Type': `application/${format}` };
      const made = await app.call('POST', '/api/import', { body: text, headers });
      expect([made.status, made.json.message]).toEqual([200, undefined]);
      const exported = await app.call('GET', `/api/projects/${project}/export?format=${format}`);
      expect(exported.text).toBe(text);
      const again = await app.call('POST', '/api/diff?prune=true', { body: text, headers });
      expect(again.json).toMatchObject({ same: true, changes: [] });
    });
    await fc.assert(property, { numRuns });
  });

  /** A project with a flag in every condition, and the document that it should become. */
  async function drifted() {
    const { name, path } = await app.project();
    const put = (environment: string, key: string, enabled = true) =>
      app.call('PUT', `${path}/environments/${environment}/flags/${key}`, { body: { enabled } });
    for (const key of ['kept', 'parked', 'revived', 'unnamed']) await put('production', key);
    await put('staging', 'kept');
    await app.call('POST', `${path}/flags/revived/archive`);
    const environments = [
      { name: 'production', protected: false, color: 'pink' },
      { name: 'development', protected: false, color: 'green' },
      'staging',
    ];
    const flags = {
      kept: { permanent: true, environments: { production: { enabled: false } } },
      parked: { archived: true },
      revived: { environments: { staging: { enabled: true } } },
    };
    return { name, path, body: { halyard: 1, project: name, environments, flags } };
  }

  test('a difference is listed in full, and an import with prune removes it', async () => {
    const { name, path, body } = await drifted();
    const { json } = await diff(body, await tokenOf('viewer'));
    expect(json).toMatchObject({
      same: false,
      projectCreated: false,
      environmentsCreated: [],
      flagsCreated: [],
      kept: 0,
      environmentsUpdated: [
        {
          name: 'production',
          before: { protected: true, color: 'red' },
          after: { protected: false, color: 'pink' },
        },
      ],
      environmentOrder: ['production', 'staging', 'development'],
      flagsUpdated: [{ key: 'kept', before: { permanent: false }, after: { permanent: true } }],
      flagsArchived: ['parked', 'unnamed'],
      flagsRestored: ['revived'],
      changes: [
        { environment: 'production', key: 'kept', action: 'update' },
        { environment: 'staging', key: 'kept', action: 'delete' },
        { environment: 'staging', key: 'revived', action: 'create' },
      ],
      onlyInProject: { flags: [], states: [] },
    });
    expect(json.notAllowed.length).toBeGreaterThan(3);
    const done = await apply(body);
    expect(done.json).toMatchObject({ flagsArchived: ['parked', 'unnamed'], seq: expect.any(Number) });
    expect((await diff(body)).json.same).toBe(true);
    const { environments } = (await app.call('GET', `/api/projects/${name}`)).json;
    expect(environments.map((one: { name: string }) => one.name)).toEqual([
      'production',
      'staging',
      'development',
    ]);
    await app.call('POST', `${path}/flags/unnamed/restore`);
    const back = (await app.call('GET', `${path}/flags/unnamed`)).json;
    expect(back.environments.production.state).toEqual({ enabled: true });
  });

  test('without prune, what the document lacks stays and is listed', async () => {
    const { body } = await drifted();
    const { json } = await apply(body, '?policy=enforce');
    expect(json.onlyInProject).toEqual({
      keys: [],
      webhooks: [],
      members: [],
      flags: ['unnamed'],
      states: [{ environment: 'staging', key: 'kept' }],
    });
    expect((await app.call('POST', '/api/diff', { body })).json.same).toBe(true);
    expect((await diff(body)).json.same).toBe(false);
  });

  test('create-only leaves flags archived or in use, whatever the document says', async () => {
    const { path, body } = await drifted();
    const { json } = await apply(body, '');
    expect(json).toMatchObject({ kept: 3, flagsArchived: [], flagsRestored: [], changes: [] });
    expect((await app.call('GET', `${path}/flags/revived`)).json.archivedAt).toBeString();
    expect((await apply(body, '?prune=true')).json.message).toContain('goes with "policy=enforce"');
  });

  test('reverting an import undoes it', async () => {
    const { name, path, body } = await drifted();
    await app.call('DELETE', `${path}/flags/revived`);
    const { revived: _, ...flags } = body.flags;
    const before = (await app.call('GET', `/api/projects/${name}/export`)).text;
    const { seq } = (await apply({ ...body, flags })).json;
    expect((await app.call('POST', `/api/changes/${seq}/revert`, { body: {} })).status).toBe(200);
    expect((await app.call('GET', `/api/projects/${name}/export`)).text).toBe(before);
  });

  describe('is judged by what it changes', () => {
    test('an editor may change states, and a viewer nothing', async () => {
      const { name, path } = await app.project();
      await app.call('PUT', `${path}/environments/staging/flags/a`, { body: { enabled: true } });
      const flags = { a: { environments: { staging: { enabled: false } } } };
      const body = { halyard: 1, project: name, environments: ['staging'], flags };
      const refused = await apply(body, '?policy=enforce', await tokenOf('viewer'));
      expect([refused.status, refused.json.error]).toEqual([403, 'forbidden']);
      const done = await apply(body, '?policy=enforce', await tokenOf('editor', false));
      expect([done.status, done.json.changes?.length]).toEqual([200, 1]);
    });

    test('a token limited to states imports states alone, and one limited to plans compares', async () => {
      const { name, path } = await app.project();
      await app.call('PUT', `${path}/environments/staging/flags/a`, { body: { enabled: true } });
      const flags = { a: { environments: { staging: { enabled: false } } } };
      const body = { halyard: 1, project: name, environments: ['staging'], flags };
      const states = await tokenOf('editor', true, { only: 'states' });
      const plan = await tokenOf('admin', true, { only: 'plan' });
      expect((await diff(body, plan)).json.same).toBe(false);
      const dry = await apply(body, '?policy=enforce&dryRun=true', plan);
      expect(dry.json.notAllowed).toHaveLength(1);
      expect((await apply(body, '?policy=enforce', plan)).status).toBe(403);
      const described = { ...body, flags: { a: { ...flags.a, description: 'x' } } };
      const refused = await apply(described, '?policy=enforce', states);
      expect(refused.json.message).toContain('- change the details of 1 flag: ');
      const added = { ...body, flags: { ...flags, b: flags.a } };
      expect((await apply(added, '?policy=enforce', states)).json).toMatchObject({ flagsCreated: ['b'] });
    });

    test('a project that the token may not see does not exist for it', async () => {
      const [one, other] = [await app.project(), await app.project()];
      await app.call('PUT', `${one.path}/environments/staging/flags/a`, { body: { enabled: true } });
      const projects = [{ project: other.name, role: 'admin' }];
      const token = await tokenOf('none', false, { projects });
      const body = { halyard: 1, project: one.name, environments: ['staging'], flags: {} };
      expect((await diff(body, token)).json).toMatchObject({
        projectCreated: true,
        onlyInProject: { flags: [] },
      });
      expect((await apply(body, '', token)).json.error).toBe('forbidden');
      const own = { ...body, project: other.name, flags: { a: { tags: ['x'] } } };
      expect((await apply(own, '?policy=enforce', token)).status).toBe(200);
    });

    test('one change that is not allowed refuses the whole import, with a list', async () => {
      const { name, body } = await drifted();
      const before = (await app.call('GET', `/api/projects/${name}/export`)).text;
      const editor = await tokenOf('editor', false);
      const dry = await apply(body, '?policy=enforce&dryRun=true', editor);
      expect(dry.json.notAllowed.map(({ what }: { what: string }) => what)).toEqual([
        'change the order of environments',
        'change the protection or color of "production"',
        'remove the protection of "production"',
        'change 2 states in "production"',
      ]);
      const refused = await apply(body, '?policy=enforce', editor);
      expect(refused.json.error).toBe('forbidden');
      for (const { what } of dry.json.notAllowed) expect(refused.json.message).toContain(`- ${what}: `);
      expect((await app.call('GET', `/api/projects/${name}/export`)).text).toBe(before);
      const other = { ...body, project: `${name}-new` };
      expect((await apply(other, '', editor)).json.message).toContain('- create the project: ');
    });
  });

  test('an error in a file names its line', async () => {
    const yaml = [
      'halyard: 1',
      'project: lines',
      'environments: [staging]',
      'flags:',
      '  a.b: {}',
      '  a:',
      '    tags: [x]',
      '    b:',
      '      c: 1',
    ].join('\n');
    const send = (body: string, type = 'yaml') =>
      app.call('POST', '/api/diff', { body, headers: { 'Content-Type': `application/${type}` } });
    const messageOf = async (body: string, type?: string) => (await send(body, type)).json.message;
    expect(await messageOf(yaml)).toStartWith('Line 8: "flags.a" has an unknown member "b"');
    expect(await messageOf(yaml.replace('a.b: {}', 'a.b: {c: 2}'))).toStartWith('Line 5: "flags.a.b" has');
    expect(await messageOf(yaml.replace('      c: 1', '').replace('    b:', '    b: 1'))).toStartWith(
      'Line 8: ',
    );
    expect(await messageOf(yaml.replace('[x]', '[x, 2]').replace('    b:\n      c: 1', ''))).toStartWith(
      'Line 7: "flags.a.tags[1]" must be',
    );
    expect(await messageOf(yaml.replace('    b:', 'more:'))).toStartWith(
      'Line 8: The document has an unknown',
    );
    expect(await messageOf(`${yaml}\n  a: {}`)).toStartWith('Line 10: "flags" has the member "a" more than');
    const json =
      '{"halyard": 1,\n"project": "lines",\n"environments": ["staging"],\n"flags": {\n"a": {\n"x": 1}}}';
    expect(await messageOf(json, 'json')).toStartWith('Line 6: "flags.a" has an unknown member "x"');
  });
});
