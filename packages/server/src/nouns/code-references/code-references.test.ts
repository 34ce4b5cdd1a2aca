import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openTestApp, type TestApp } from '../../management/api/test-app.ts';
import { ENGINES } from '../../storage/test-engines.ts';

setDefaultTimeout(60_000);

const LINK = 'https://git.example/{commit}/{path}#L{line}';
const FOUND = {
  key: 'new-checkout',
  places: 3,
  files: 2,
  first: [
    { path: 'src/a.ts', line: 1 },
    { path: 'src/ä b.ts', line: 7 },
  ],
};
const NOT_FOUND = { key: 'old-banner', places: 0, files: 0, first: [] };
const REPORT = { repository: 'acme/shop', commit: 'abc1234', link: LINK, flags: [FOUND, NOT_FOUND] };

describe.each(ENGINES)('reports about code on $name', (engine) => {
  let app: TestApp;
  let path: string;
  beforeAll(async () => {
    app = await openTestApp(engine);
    ({ path } = await app.project());
    for (const key of ['new-checkout', 'old-banner', 'newer'])
      await app.done('POST', `${path}/flags`, { body: { key } });
  });
  afterAll(() => app.close());

  const put = (body: object, token?: string) =>
    app.call('PUT', `${path}/code-references`, { body, ...(token !== undefined && { token }) });
  const list = async () => (await app.call('GET', `${path}/code-references`)).json.repositories;
  const inCode = async (key: string) =>
    (await app.call('GET', `${path}/flags/${key}/code-references`)).json.repositories;
  const endOfLog = () => app.home.database.query('SELECT seq FROM feed');
  const rows = () =>
    Promise.all(
      ['code_reports', 'code_references'].map((table) => app.home.database.query(`SELECT * FROM ${table}`)),
    );

  test('a report takes the place of the one before it, of its repository alone, and is no change', async () => {
    const before = await endOfLog();
    expect((await put({ ...REPORT, repository: 'api', flags: [NOT_FOUND] })).status).toBe(204);
    expect((await put(REPORT)).status).toBe(204);
    const { link, commit } = REPORT;
    expect(await inCode('new-checkout')).toMatchObject([
      { repository: 'acme/shop', commit, link, ...counts(FOUND) },
    ]);
    expect((await inCode('new-checkout'))[0].first).toEqual(FOUND.first);

    expect((await put({ repository: 'acme/shop', commit: 'def5678', flags: [NOT_FOUND] })).status).toBe(204);
    expect(await list()).toMatchObject([
      { repository: 'acme/shop', commit: 'def5678', flags: { 'old-banner': { places: 0, files: 0 } } },
      { repository: 'api', commit, link },
    ]);
    expect((await list())[0]).not.toHaveProperty('link');
    expect(await inCode('new-checkout')).toEqual([]);
    expect(await inCode('old-banner')).toMatchObject([{ repository: 'acme/shop' }, { repository: 'api' }]);
    expect(await endOfLog()).toEqual(before);
  });

  test('a flag that no report names has no repositories, and one that does not exist is refused', async () => {
    expect(await inCode('newer')).toEqual([]);
    const missing = await app.call('GET', `${path}/flags/missing/code-references`);
    expect([missing.status, missing.json.error]).toEqual([404, 'flag_not_found']);
  });

  test.each([
    ['a name with a blank', { repository: 'a b' }],
    ['a commit with a slash', { commit: 'a/b' }],
    ['a script as link', { link: 'javascript:alert(1)//{path}' }],
    ['a link whose host depends on the place', { link: 'https://{path}/x' }],
    ['a link with credentials', { link: 'https://user:secret@git.example/{path}' }],
    ['a flag twice', { flags: [FOUND, FOUND] }],
    ['a key that no flag can have', { flags: [{ ...FOUND, key: 'a b' }] }],
    ['more places than were counted', { flags: [{ ...FOUND, places: 1, files: 1 }] }],
    ['files without a place', { flags: [{ ...NOT_FOUND, files: 1 }] }],
    ['21 places', { flags: [{ ...FOUND, places: 21, first: Array(21).fill({ path: 'a', line: 1 }) }] }],
    ['a path of two lines', { flags: [{ ...FOUND, first: [{ path: 'a\nb', line: 1 }] }] }],
    ['source text', { flags: [{ ...FOUND, first: [{ path: 'a', line: 1, text: 'secret' }] }] }],
    [
      'too many flags',
      { flags: Array.from({ length: 10_001 }, (_, index) => ({ ...NOT_FOUND, key: `k${index}` })) },
    ],
  ])('%s is refused, and what was reported stays', async (_what, wrong) => {
    const before = await list();
    const { status, json } = await put({ ...REPORT, ...wrong });
    expect([status, json.error]).toEqual([400, 'invalid_argument']);
    expect(await list()).toEqual(before);
  });

  test('a token that sets states may report, one that plans imports may not, and no more than 50 repositories', async () => {
    const tokenFor = async (only: string) =>
      (await app.done('POST', '/api/tokens', { body: { name: `ci ${only}`, role: 'editor', only } })).token;
    expect((await put(REPORT, await tokenFor('plan'))).json.error).toBe('forbidden');
    expect((await put(REPORT, await tokenFor('states'))).status).toBe(204);
    expect((await list())[0].reportedBy).toBe('token:ci states');

    for (let index = 3; index <= 50; index++)
      expect((await put({ ...REPORT, repository: `r${index}`, flags: [] })).status).toBe(204);
    const refused = await put({ ...REPORT, repository: 'r51', flags: [] });
    expect(refused.json.message).toContain('50 repositories have reported');
    const remove = () => app.call('DELETE', `${path}/code-references?repository=acme%2Fshop`);
    expect((await remove()).status).toBe(204);
    expect((await remove()).json.error).toBe('not_found');
    expect(await inCode('new-checkout')).toEqual([]);
    expect((await put({ ...REPORT, repository: 'r51' })).status).toBe(204);
  });

  test('the reports of a project end with it', async () => {
    expect((await rows()).map(({ length }) => length > 0)).toEqual([true, true]);
    await app.done('DELETE', path);
    expect(await rows()).toEqual([[], []]);
  });
});

function counts({ places, files }: typeof FOUND) {
  return { places, files };
}
