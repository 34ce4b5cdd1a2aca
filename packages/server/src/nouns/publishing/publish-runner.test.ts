import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { TestObjectServer, within } from '@halyard/testing';
import pino from 'pino';
import { TestApp } from '../../management/api/test-app.ts';
import { ENGINES, openTestStore, type TestEngine } from '../../storage/test-engines.ts';
import { ObjectStorage } from './object-storage.ts';
import { LEASE_MS, type PublishedMap } from './publication.ts';
import { PublishRunner } from './publish-runner.ts';

setDefaultTimeout(60_000);

const ON = '{"enabled":true}';
const WITHOUT_KEY = { withoutKey: true };

/** What a node would serve. */
function mapAt(revision: number, state = ON): PublishedMap {
  const bytes = new TextEncoder().encode(`{"environment":"production","flags":{"a":${state}}}`);
  return { revision, bytes, hash: Bun.SHA256.hash(bytes, 'hex').slice(0, 32), states: () => [['a', state]] };
}

const changed = (environmentId: string) => ({ kind: 'flags.changed', environmentId, payload: '[]' }) as const;

describe.each(ENGINES)('publishing on $name', (engine: TestEngine) => {
  let app: TestApp;
  let storage: TestObjectServer;
  const maps = new Map<string, PublishedMap>();
  const runners: PublishRunner[] = [];
  beforeAll(async () => {
    app = new TestApp(await openTestStore(engine));
    storage = new TestObjectServer();
  });
  afterAll(async () => {
    await Promise.all(runners.map((runner) => runner.close()));
    await storage.stop();
    await app.close();
  });

  function node(): PublishRunner {
    const runner = new PublishRunner({
      context: app.context,
      storage: new ObjectStorage(storage.address, storage.options),
      mapOf: (id) => maps.get(id),
      node: Bun.randomUUIDv7(),
      log: pino({ level: 'silent' }),
      isReady: () => true,
      pauses: { write: 0, error: 0, longestError: 0, check: 0 },
    });
    runners.push(runner);
    return runner;
  }

  /** A project whose production is published, at revision 1, and the one node that publishes. */
  async function published() {
    for (const runner of runners.splice(0)) await runner.close();
    const { name, path } = await app.project();
    const place = `${path}/environments/production`;
    const answer = await app.call('PUT', `${place}/publication`, { body: WITHOUT_KEY });
    expect(answer.status).toBe(200);
    const [row] = await app.context.store.query<{ id: string }>(
      `SELECT id FROM environments WHERE name = 'production' AND project_id = (SELECT id FROM projects WHERE name = $1)`,
      [name],
    );
    const id = row?.id ?? '';
    maps.set(id, mapAt(1));
    const runner = node();
    await runner.runOnce();
    return { id, runner, path, place, at: `${name}/production` };
  }

  test('what takes long to write is not confirmed for later than it was read', async () => {
    const { id, runner, at } = await published();
    maps.set(id, mapAt(2));
    let writtenAt = 0;
    storage.interfere = ({ method }, path) => {
      if (method === 'PUT' && /\/2-\w+\.json$/.test(path)) writtenAt = Date.now();
      while (Date.now() === writtenAt);
      return undefined;
    };
    await runner.runOnce();
    storage.interfere = () => undefined;
    expect(storage.json(`${at}/pointer.json`).revision).toBe(2);
    expect(Date.parse(storage.json(`${at}/pointer.json`).checkedAt)).toBeLessThanOrEqual(writtenAt);
  });

  test('an environment is published by itself, with words for it, and the pointer is written last', async () => {
    const { name, path } = await app.project();
    const place = `${path}/environments/production/publication`;
    for (const body of [{}, { withoutKey: false }])
      expect((await app.call('PUT', place, { body })).status).toBe(400);
    expect((await app.call('GET', `${path}/publications`)).json).toEqual({ publications: [] });
    const { id, runner, at, path: other } = await published();
    expect(storage.written.filter((each) => each.includes(name))).toEqual([]);
    const { hash } = mapAt(1);
    const files = (revision: number, tag: string) =>
      [`${revision}-${tag}.json`, 'flagd.json', 'pointer.json'].map((file) => `flags/${at}/${file}`);
    expect(storage.written.filter((each) => each.includes(at))).toEqual(files(1, hash));
    expect(storage.json(`${at}/pointer.json`)).toMatchObject({
      version: 1,
      environmentId: id,
      revision: 1,
      hash,
      object: `1-${hash}.json`,
    });
    expect(storage.json(`${at}/1-${hash}.json`)).toEqual({
      environment: 'production',
      flags: { a: { enabled: true } },
    });
    expect(storage.json(`${at}/flagd.json`).metadata).toEqual({ environment: 'production', revision: 1 });
    const caching = files(1, hash).map((file) => storage.files.get(file)?.headers.get('Cache-Control'));
    const newest = 'public, max-age=1, stale-if-error=86400';
    expect(caching).toEqual(['public, max-age=31536000, immutable', newest, newest]);

    storage.written.splice(0);
    const next = mapAt(4, '{"enabled":false}');
    maps.set(id, next);
    runner.applied(changed(id));
    await runner.runOnce();
    expect(storage.written.filter((file) => file.includes(at))).toEqual(files(4, next.hash));
    const [publication] = (await app.call('GET', `${other}/publications`)).json.publications;
    expect(publication).toMatchObject({ environment: 'production', path: at, revision: 4 });
    const { entries } = (await app.call('GET', `/api/audit?project=${at.split('/')[0]}`)).json;
    expect(entries[0]).toMatchObject({ action: 'environment.published', target: 'production' });

    // A day later, only the newest object is left.
    storage.age(90_000_000);
    await runner.runOnce();
    const left = [...storage.files.keys()].filter((file) => file.includes(at));
    expect(left.sort()).toEqual(files(4, next.hash).sort());
    expect([runner.behindSeconds, runner.trouble()]).toEqual([0, undefined]);
  });

  test('a publication says how far the environment is, so that older files are not called the newest', async () => {
    const { path, place, runner } = await published();
    const read = async () => (await app.call('GET', `${path}/publications`)).json.publications[0];
    expect(await read()).toMatchObject({ environmentRevision: 0, revision: 1 });

    for (const enabled of [true, false, true])
      await app.done('PUT', `${place}/flags/a`, {
        body: { enabled },
        headers: { 'X-Confirm-Environment': 'production' },
      });
    expect(await read()).toMatchObject({ environmentRevision: 3, revision: 1 });
    expect(runner.trouble()).toBeUndefined();
  });

  test('one node publishes; one that was frozen writes nothing over what another wrote since', async () => {
    const { id, runner: frozen, at } = await published();
    const other = node();
    await other.runOnce();
    maps.set(id, mapAt(2));
    other.applied(changed(id));
    await other.runOnce();
    expect(storage.json(`${at}/pointer.json`).revision).toBe(1);

    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    storage.interfere = async ({ method }, path) => {
      if (method === 'PUT' && path === `flags/${at}/pointer.json`) {
        storage.interfere = () => undefined;
        reached.resolve();
        await released.promise;
      }
      return undefined;
    };
    frozen.applied(changed(id));
    const late = frozen.runOnce();
    await within('it is about to write', reached.promise);
    app.node.now += LEASE_MS;
    maps.set(id, mapAt(3));
    await other.runOnce();
    expect(storage.json(`${at}/pointer.json`).revision).toBe(3);
    released.resolve();
    await late;
    expect(storage.json(`${at}/pointer.json`).revision).toBe(3);
    await frozen.runOnce();
    expect([frozen.behindSeconds, storage.json(`${at}/flagd.json`).metadata.revision]).toEqual([0, 3]);
  });

  test('a storage that is ahead of the database, or away, is left as it is, and the node says why', async () => {
    const { id, runner, at } = await published();
    maps.set(id, mapAt(900));
    runner.applied(changed(id));
    await runner.runOnce();
    await runner.close();
    // Restored from a backup.
    maps.set(id, mapAt(5));
    const restored = node();
    storage.written.splice(0);
    await restored.runOnce();
    expect(storage.written.filter((file) => file.includes(at))).toEqual([]);
    expect(restored.counts).toEqual({ published: 0, failed: 1 });
    maps.set(id, mapAt(901));
    storage.interfere = () => new Response('<Error><Code>SlowDown</Code></Error>', { status: 503 });
    await restored.runOnce();
    const before = restored.behindSeconds;
    await restored.runOnce();
    storage.interfere = () => undefined;
    // It counts on, however often it fails.
    expect(restored.behindSeconds).toBeGreaterThan(before);
    await restored.runOnce();
    expect([restored.behindSeconds, storage.json(`${at}/pointer.json`).revision]).toEqual([0, 901]);
  });

  test('what is withdrawn or deleted is removed, and an environment that is made again is not published', async () => {
    const { id, runner, at, place, path } = await published();
    const files = () => [...storage.files.keys()].filter((file) => file.includes(`flags/${at}/`));
    const confirmed = { headers: { 'X-Confirm-Environment': 'production' } };
    expect((await app.call('DELETE', `${place}/publication`, confirmed)).status).toBe(200);
    await runner.runOnce();
    expect(files()).toEqual([]);
    const again = async () => app.call('PUT', `${place}/publication`, { body: WITHOUT_KEY, ...confirmed });
    await again();
    await runner.runOnce();
    expect(files()).toHaveLength(3);

    // Published again before its files were removed: nothing is known of them until they are written.
    expect((await again()).json).toEqual({});
    await app.call('DELETE', `${place}/publication`, confirmed);
    expect((await again()).json.seq).toBeNumber();
    const [asked] = (await app.call('GET', `${path}/publications`)).json.publications;
    expect(asked).not.toHaveProperty('publishedAt');

    app.node.now += 1000;
    await app.call('DELETE', place, confirmed);
    await app.call('POST', `${path}/environments`, { body: { name: 'production' } });
    await runner.runOnce();
    expect([files(), maps.has(id)]).toEqual([[], true]);
    expect((await app.call('GET', `${path}/publications`)).json).toEqual({ publications: [] });
  });
});
