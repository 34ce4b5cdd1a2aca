import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openTestApp, type TestApp } from '../../management/api/test-app.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('compare and copy on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  const on = { enabled: true };
  const off = { enabled: false };

  /** staging: a on, b on with a value, c on; production: a on, b off, d on. */
  async function twoEnvironments() {
    const { name, path } = await app.project();
    const states = { a: [on, on], b: [{ enabled: true, value: 1.5 }, off], c: [on], d: [undefined, on] };
    for (const [key, [staging, production]] of Object.entries(states)) {
      const body = { key, states: { staging, production } };
      expect((await app.call('POST', `${path}/flags`, { body })).status).toBe(201);
    }
    const { revision } = (await app.call('GET', `${path}/environments/production/flags`)).json;
    return { name, path, revision, copy: `${path}/environments/production/copy` };
  }

  const differences = [
    { key: 'b', before: off, after: { enabled: true, value: 1.5 } },
    { key: 'c', after: on },
  ];

  test('a comparison names what differs, with both revisions', async () => {
    const { path } = await twoEnvironments();
    const { json } = await app.call('GET', `${path}/compare?from=staging&to=production`);
    expect(json).toEqual({
      from: { environment: 'staging', revision: 3 },
      to: { environment: 'production', revision: 3 },
      differences: [
        { key: 'b', from: { enabled: true, value: 1.5 }, to: off },
        { key: 'c', from: on },
        { key: 'd', to: on },
      ],
    });
    const same = await app.call('GET', `${path}/compare?from=development&to=development`);
    expect([same.status, same.json.error]).toEqual([400, 'invalid_argument']);
    const none = await app.call('GET', `${path}/compare?from=moon&to=production`);
    expect([none.status, none.json.error]).toEqual([404, 'environment_not_found']);
  });

  test('a copy is one revision, keeps what only the target has, and can be reverted', async () => {
    const { path, revision, copy } = await twoEnvironments();
    const copied = await app.call('POST', copy, { body: { from: 'staging' } });
    expect(copied.json).toEqual({
      environment: 'production',
      revision: revision + 1,
      changed: ['b', 'c'],
      fromRevision: expect.any(Number),
      seq: expect.any(Number),
      differences,
    });
    expect(copied.headers.get('ETag')).toBe(`"${revision + 1}"`);
    expect(copied.text).toContain('"value":1.5');
    const again = await app.call('POST', copy, { body: { from: 'staging' } });
    expect(again.json).toEqual({
      environment: 'production',
      revision: revision + 1,
      changed: [],
      differences: [],
      fromRevision: expect.any(Number),
    });
    const undone = await app.call('POST', `/api/changes/${copied.json.seq}/revert`, { body: {} });
    expect(undone.status).toBe(200);
    const { json } = await app.call('GET', `${path}/compare?from=staging&to=production`);
    expect(json.differences).toHaveLength(3);
  });

  test('a copy can be previewed', async () => {
    const { revision, copy } = await twoEnvironments();
    const tried = await app.call('POST', `${copy}?dryRun=true`, { body: { from: 'staging' } });
    expect(tried.json).toMatchObject({ environment: 'production', revision, changed: [], differences });
    const done = await app.call('POST', copy, {
      body: { from: 'staging' },
      headers: { 'If-Match': tried.headers.get('ETag') ?? '' },
    });
    expect(done.json.differences).toEqual(differences);
  });

  test('a copy of chosen flags leaves the others alone, and removes only on request', async () => {
    const { path, copy } = await twoEnvironments();
    const some = await app.call('POST', copy, { body: { from: 'staging', keys: ['c', 'd', 'none'] } });
    expect(some.json.changed).toEqual(['c']);
    const removed = await app.call('POST', copy, { body: { from: 'staging', keys: ['d'], deletes: true } });
    expect(removed.json.differences).toEqual([{ key: 'd', before: on }]);
    await app.call('POST', copy, { body: { from: 'staging', deletes: true } });
    const { json } = await app.call('GET', `${path}/compare?from=staging&to=production`);
    expect(json.differences).toEqual([]);
  });

  test('rejects a copy from a revision that has changed', async () => {
    const { path, copy } = await twoEnvironments();
    const { fromRevision } = (await app.call('POST', `${copy}?dryRun=true`, { body: { from: 'staging' } }))
      .json;
    await app.call('PUT', `${path}/environments/staging/flags/z`, { body: on });
    const body = { from: 'staging', fromRevision };
    for (const query of ['', '?dryRun=true']) {
      const refused = await app.call('POST', copy + query, { body });
      expect([refused.status, refused.json.error]).toEqual([412, 'revision_conflict']);
    }
    const copied = await app.call('POST', copy, { body: { ...body, fromRevision: fromRevision + 1 } });
    expect([copied.status, copied.json.fromRevision]).toEqual([200, fromRevision + 1]);
  });

  test('rejects a copy onto a revision that has changed', async () => {
    const { path, revision, copy } = await twoEnvironments();
    const headers = { 'If-Match': `"${revision}"` };
    await app.call('PUT', `${path}/environments/production/flags/z`, { body: on });
    for (const query of ['', '?dryRun=true']) {
      const refused = await app.call('POST', copy + query, { body: { from: 'staging' }, headers });
      expect([refused.status, refused.json.error]).toEqual([412, 'revision_conflict']);
    }
  });

  test.each([
    [{ from: 'production' }, 'invalid_argument'],
    [{}, 'invalid_argument'],
    [{ from: 'moon' }, 'environment_not_found'],
    [{ from: 'staging', keys: 'a' }, 'invalid_argument'],
  ])('the copy %j is refused', async (body, error) => {
    const { copy } = await twoEnvironments();
    expect((await app.call('POST', copy, { body })).json.error).toBe(error);
  });

  test('does not compare or copy archived flags', async () => {
    const { path, copy } = await twoEnvironments();
    for (const key of ['b', 'c', 'd']) await app.call('POST', `${path}/flags/${key}/archive`);
    const { json } = await app.call('GET', `${path}/compare?from=staging&to=production`);
    expect(json.differences).toEqual([]);
    const copied = await app.call('POST', copy, { body: { from: 'staging', keys: ['b'] } });
    expect(copied.json.changed).toEqual([]);
  });

  test.each([
    ['Überraschung', 'überraschung'],
    ['überraschung', 'ÜBERRASCHUNG'],
    ['Équipe Été', 'Équipe Été'],
    ['Équipe Été', 'équipe'],
    ['ОПЛАТА', 'оплата'],
    ['оплата', 'Оплата'],
  ])('a search finds %s by %s, and so does one in the audit log', async (text, words) => {
    const { name, path } = await app.project();
    for (const [key, flag] of Object.entries({
      a: { description: text },
      b: { owner: text },
      c: { tags: [text] },
    })) {
      await app.call('POST', `${path}/flags`, { body: { key, ...flag } });
    }
    const change = { changes: [{ key: 'd', state: on }], note: `why: ${text}` };
    await app.call('POST', `${path}/environments/staging/changes`, { body: change });
    const q = encodeURIComponent(words);
    const found: { key: string; project: string }[] = (await app.call('GET', `/api/search?q=${q}`)).json
      .results;
    expect(found.filter(({ project }) => project === name).map(({ key }) => key)).toEqual(['a', 'b', 'c']);
    const { entries } = (await app.call('GET', `/api/audit?project=${name}&q=${q}`)).json;
    expect(entries.map(({ target }: { target: string }) => target)).toEqual(['d', 'd']);
  });

  test('a search finds projects, environments, flags and keys, the best first', async () => {
    const { name, path } = await app.project();
    const word = `Zebra${name}`;
    for (const flag of [
      { key: `${word}-crossing` },
      { key: word },
      { key: `the-${word}` },
      { key: 'striped', description: `like a ${word}` },
      { key: 'owned', owner: word },
    ]) {
      await app.call('POST', `${path}/flags`, { body: flag });
    }

    await app.call('POST', `${path}/environments`, { body: { name: word.toLowerCase() } });
    const key = await app.call('POST', `${path}/keys`, {
      body: { name: `${word} web`, environments: ['staging'] },
    });
    await app.call('POST', `${path}/flags/the-${word}/archive`);

    const found = await app.call('GET', `/api/search?q=${word.toUpperCase()}`);
    expect(found.json.results).toEqual([
      { kind: 'environment', project: name, environment: word.toLowerCase() },
      { kind: 'flag', project: name, key: word, description: '' },
      { kind: 'key', project: name, name: `${word} web`, id: key.json.id },
      { kind: 'flag', project: name, key: `${word}-crossing`, description: '' },
      {
        kind: 'flag',
        project: name,
        key: `the-${word}`,
        description: '',
        archivedAt: expect.any(String),
      },
      { kind: 'flag', project: name, key: 'owned', description: '' },
      { kind: 'flag', project: name, key: 'striped', description: `like a ${word}` },
    ]);

    expect((await app.call('GET', `/api/search?q=${word}&limit=2`)).json.results).toHaveLength(2);
    expect((await app.call('GET', `/api/search?q=${name}`)).json.results[0]).toEqual({
      kind: 'project',
      project: name,
    });

    for (const nothing of ['%25', '_', '%20', 'no-such-thing']) {
      expect((await app.call('GET', `/api/search?q=${nothing}`)).json.results).toEqual([]);
    }
    expect((await app.call('GET', '/api/search')).json.error).toBe('invalid_argument');
  });
});
