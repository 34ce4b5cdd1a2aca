import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readCursor, writeCursor } from '../management/api/pages.ts';
import { openTestApp, type TestApp } from '../management/api/test-app.ts';
import { ENGINES, type TestEngine } from '../storage/test-engines.ts';
import { makeKey } from '../storage/test-records.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('lists in pages on $name', (engine: TestEngine) => {
  let app: TestApp;
  let path: string;

  beforeAll(async () => {
    app = await openTestApp(engine);
    ({ path } = await app.project());
    const keys = ['b', 'a', 'B', 'a-b', 'a.c', 'ab', 'c'];
    const changes = keys.map((key) => ({ key, state: { enabled: true } }));
    await app.call('POST', `${path}/environments/staging/changes`, { body: { changes } });
    await app.call('POST', `${path}/flags/c/archive`);
    for (const name of ['web', 'ios', 'web', 'Android', 'ünter', 'web'])
      await app.call('POST', `${path}/keys`, { body: { name, environments: ['staging'] } });
    for (const name of ['ci', 'ops', 'Dev']) await app.call('POST', '/api/tokens', { body: { name } });
    for (const name of ['eu', 'us']) await app.call('POST', '/api/relay-tokens', { body: { name } });
    await app.project();
    await app.project();
  });
  afterAll(() => app.close());

  /** The lists of the pages, and their items one after another. */
  async function follow(list: string, member: string, limit: number) {
    const pages: unknown[][] = [];
    let cursor: string | undefined;
    do {
      const query = `${list.includes('?') ? '&' : '?'}limit=${limit}${cursor === undefined ? '' : `&cursor=${cursor}`}`;
      const { status, json } = await app.call('GET', `${list}${query}`);
      expect(status).toBe(200);
      pages.push(json[member]);
      cursor = json.next;
    } while (cursor !== undefined);
    return { pages, items: pages.flat() };
  }

  const lists: [string, string][] = [
    ['/flags', 'flags'],
    ['/flags?archived=all', 'flags'],
    ['/flags?q=a', 'flags'],
    ['/environments/staging/flags', 'flags'],
    ['/environments/production/flags', 'flags'],
    ['/environments', 'environments'],
    ['/keys', 'keys'],
    ['/api/projects', 'projects'],
    ['/api/overview', 'projects'],
    ['/api/tokens', 'tokens'],
    ['/api/relay-tokens', 'relayTokens'],
    ['/api/operators', 'operators'],
  ];
  test.each(lists)('the pages of %s have the same items as the whole list', async (list, member) => {
    const address = list.startsWith('/api') ? list : `${path}${list}`;
    const { json: whole } = await app.call('GET', address);
    expect(whole.next).toBeUndefined();
    for (const limit of [1, 2, 3, 1000]) {
      const { pages, items } = await follow(address, member, limit);
      expect(items).toBeArrayOfSize(whole[member].length);
      expect(new Set(items.map((item) => JSON.stringify(item)))).toEqual(
        new Set(whole[member].map((item: unknown) => JSON.stringify(item))),
      );
      // Keys of one name come in order of their ids in pages only.
      if (member !== 'keys') expect(items).toEqual(whole[member]);
      expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(limit);
      expect(pages.length).toBe(Math.max(1, Math.ceil(items.length / limit)));
    }
  });

  test('pages of keys are sorted by name, byte by byte', async () => {
    const { items } = await follow(`${path}/keys`, 'keys', 2);
    expect(items).toMatchObject(['Android', 'ios', 'web', 'web', 'web', 'ünter'].map((name) => ({ name })));
  });

  test('the next page skips what was removed and includes what was added after the cursor', async () => {
    const { path: other } = await app.project();
    const list = `${other}/environments/staging/flags`;
    const put = (key: string) => app.call('PUT', `${list}/${key}`, { body: { enabled: true } });
    for (const key of ['a', 'b', 'c']) await put(key);
    const { json: first } = await app.call('GET', `${list}?limit=2`);
    await app.call('DELETE', `${list}/b`);
    await put('bb');
    const { json: second } = await app.call('GET', `${list}?cursor=${first.next}`);
    expect(second.flags).toMatchObject([{ key: 'bb' }, { key: 'c' }]);
    expect(second.next).toBeUndefined();
  });

  test('a page of states that cannot be read still leads to the next one', async () => {
    const { name, path: other } = await app.project();
    const list = `${other}/environments/staging/flags`;
    for (const key of ['a', 'b']) await app.call('PUT', `${list}/${key}`, { body: { enabled: true } });
    await app.home.database.transaction((tx) =>
      tx.query(
        `UPDATE flag_states SET state = '{' WHERE flag_key = 'a'
          AND project_id = (SELECT id FROM projects WHERE name = $1)`,
        [name],
      ),
    );
    const { json: first } = await app.call('GET', `${list}?limit=1`);
    expect(first).toMatchObject({ flags: [], next: writeCursor(['a']) });
    expect((await app.call('GET', `${list}?limit=1&cursor=${first.next}`)).json.flags).toMatchObject([
      { key: 'b' },
    ]);
  });

  test('a page ends early when its items are large', async () => {
    const { path: other } = await app.project();
    const list = `${other}/environments/staging/flags`;
    const value = 'x'.repeat(60_000);
    const changes = Array.from({ length: 100 }, (_, index) => ({
      key: `f${index}`,
      state: { enabled: true, value },
    }));
    for (let start = 0; start < changes.length; start += 13) {
      const body = { changes: changes.slice(start, start + 13) };
      await app.call('POST', `${other}/environments/staging/changes`, { body });
    }
    const { pages, items } = await follow(list, 'flags', 1000);
    expect([pages.length, items.length]).toEqual([2, 100]);
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=x', 'limit'],
    ['cursor=x', 'cursor'],
    ['cursor=', 'cursor'],
    [`cursor=${writeCursor([1])}`, 'cursor'],
    [`cursor=${writeCursor(['a', 'b', 'c'])}`, 'cursor'],
    ['after=a', 'after'],
  ])('%s is refused', async (query, name) => {
    const { status, json } = await app.call('GET', `${path}/keys?${query}`);
    expect([status, json.error]).toEqual([400, 'invalid_argument']);
    expect(json.message).toContain(`"${name}"`);
  });
});

test('a number of a cursor is one that the program can have written', () => {
  for (const number of [1.5, 1e30, -(2 ** 53)])
    expect(() => readCursor(writeCursor([number, 0]), [0, 0])).toThrow('"cursor"');
});

test('a cursor survives every text', () => {
  for (const text of ['', 'a/b?c=d&e', 'ünï©ödé', '"\\', makeKey({ id: 'p', name: 'p', createdAt: 1 }).id]) {
    expect(readCursor(writeCursor([text, 7]), ['', 0])).toEqual([text, 7]);
  }
});
