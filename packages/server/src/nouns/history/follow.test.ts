import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openTestApp, type TestApp } from '../../management/api/test-app.ts';
import { SqlStore } from '../../storage/store.ts';
import { ENGINES, loseRows, type TestEngine } from '../../storage/test-engines.ts';
import { ADA } from '../../storage/test-records.ts';

setDefaultTimeout(60_000);

interface Page {
  readonly entries: readonly {
    readonly id: string;
    readonly seq: number;
    readonly target: string;
    readonly cursor: string;
  }[];
  readonly next: string;
  readonly more: boolean;
}

describe.each(ENGINES)('following the audit log on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  const follow = async (query: string, token?: string): Promise<Page> =>
    (await app.call('GET', `/api/audit/follow?${query}`, token === undefined ? {} : { token })).json;

  /** Everything from a place to the end, in small pages. */
  async function allAfter(after: string, more = ''): Promise<Page['entries'][number][]> {
    const entries: Page['entries'][number][] = [];
    for (let next = after; ; ) {
      const page = await follow(`after=${next}&limit=3${more}`);
      entries.push(...page.entries);
      next = page.next;
      if (!page.more) return entries;
    }
  }

  test('S24.5 gives each entry once and in order while several nodes write', async () => {
    const { next: start } = await follow('');
    const total = 3 * 20 * 3;
    const stores = [
      app.home.store,
      new SqlStore(await app.home.connect()),
      new SqlStore(await app.home.connect()),
    ];
    const writing = Promise.all(
      stores.map(async (store, node) => {
        for (let n = 0; n < 20; n++)
          await store.commit(ADA, async (tx) => {
            for (const each of 'abc')
              tx.journal.audit({ action: 'flag.created', target: `${node}-${n}-${each}` });
          });
      }),
    );

    const seen: Page['entries'][number][] = [];
    for (let next = start; seen.length < total; ) {
      const page = await follow(`after=${next}&limit=7`);
      seen.push(...page.entries);
      next = page.next;
    }
    await writing;

    expect(seen).toEqual(await allAfter(start));
    expect(new Set(seen.map(({ id }) => id)).size).toBe(total);
    expect(seen.map(({ seq }) => seq)).toEqual(seen.map(({ seq }) => seq).toSorted((a, b) => a - b));
    // From any line on, also within a change.
    const middle = seen[seen.length - 5];
    expect(await allAfter(middle?.cursor ?? '')).toEqual(seen.slice(-4));
    expect(await allAfter(`${middle?.seq}`)).toEqual(seen.slice(-3));
  });

  test('S24.6 gives only what the reader may see, of one project where that is asked', async () => {
    const { next } = await follow('');
    const [mine, other] = [await app.project(), await app.project()];
    const body = { name: `viewer-of-${mine.name}`, projects: [{ project: mine.name, role: 'viewer' }] };
    const { token } = await app.done('POST', '/api/tokens', { body });
    await app.call('PUT', `${mine.path}/environments/production/flags/a`, { body: { enabled: true } });

    const all = (await allAfter(next)).map(({ target }) => target);
    expect(all).toContain(other.name);
    const own = await follow(`after=${next}`, token);
    expect(own.entries.map(({ target }) => target)).not.toContain(other.name);
    expect(own.entries).toEqual(await allAfter(next, `&project=${mine.name}`));
    expect(JSON.stringify(own)).not.toMatch(/token\.created|"ip"/);
    // It has looked at all of them.
    expect(own).toMatchObject({ more: false, next: (await follow('')).next });
    expect((await app.call('GET', `/api/audit/follow?project=${other.name}`, { token })).status).toBe(404);
  });

  test('S24.5 a place that the log does not have is refused, not passed over', async () => {
    await app.project();
    const { next } = await follow('');
    const refused = async (after: string) => (await app.call('GET', `/api/audit/follow?after=${after}`)).json;
    for (const wrong of ['x', '-1', '1-2', ''])
      expect(await refused(wrong)).toMatchObject({ error: 'invalid_argument' });

    // Restored to before the last change, and written again since.
    const written = (target: string) =>
      app.home.store.commit(ADA, async (tx) => tx.journal.audit({ action: 'flag.created', target }));
    const { seq = 0 } = await written('lost');
    const after = (await follow('')).next;
    await loseRows(app.home.database, 1);
    await app.home.database.query('DELETE FROM audit_log WHERE seq >= $1', [seq]);
    expect(await refused(`${seq}`)).toMatchObject({ error: 'invalid_argument' });
    await written('again');
    expect(await refused(after)).toMatchObject({ error: 'invalid_argument' });
    expect((await follow(`after=${next}`)).entries).toMatchObject([{ target: 'again' }]);
  });

  test('S24.5 waits for a change that is not there yet, with rights that still hold then', async () => {
    const { token, id } = await app.done('POST', '/api/tokens', {
      body: { name: 'follower', role: 'viewer' },
    });
    const { next } = await follow('');
    const [seq = 0] = next.split('-').map(Number);
    const waitsFor: number[] = [];
    const { context } = app;
    const original = context.waitForApplied;
    // Nothing else can revoke the token while the call waits.
    Object.assign(context, {
      waitForApplied: async (asked: number) => {
        if (asked !== seq + 1 || waitsFor.push(asked) > 1) return;
        await app.done('POST', '/api/projects', { body: { name: 'waited-for' } });
        await app.done('DELETE', `/api/tokens/${id}`);
      },
    });
    expect((await app.call('GET', `/api/audit/follow?after=${next}&wait=true`, { token })).status).toBe(401);
    expect(waitsFor).toEqual([seq + 1]);
    expect((await follow(`after=${next}&wait=true`)).entries[0]).toMatchObject({ target: 'waited-for' });
    Object.assign(context, { waitForApplied: original });
  });
});
