import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { PRESENCE_MS } from '../domain/delivery.ts';
import { openTestApp, type TestApp } from '../management/api/test-app.ts';
import { SqlDeliveryStore } from '../nouns/deliveries/delivery-table.ts';
import { readEnvironment } from '../nouns/environments/environment-table.ts';
import { readProject } from '../nouns/projects/project-table.ts';
import { storeLastUse } from '../storage/last-use.ts';
import { ENGINES } from '../storage/test-engines.ts';

setDefaultTimeout(60_000);

for (const engine of ENGINES) {
  describe(`on ${engine.name}`, () => {
    let app: TestApp;
    let store: SqlDeliveryStore;
    beforeAll(async () => {
      app = await openTestApp(engine);
      store = new SqlDeliveryStore(app.home.database);
    });
    afterAll(() => app.close());

    async function idOf(project: string, environment: string): Promise<string> {
      const found = await app.home.store.read(async (db) => {
        const { id = '' } = (await readProject(db, project)) ?? {};
        return readEnvironment(db, id, environment);
      });
      return found?.id ?? '';
    }

    describe('GET /api/projects/{project}/clients', () => {
      test('adds up the nodes by environment and key, without nodes that have gone silent', async () => {
        const { name, path } = await app.project();
        const make = async (body: object) => (await app.call('POST', `${path}/keys`, { body })).json;
        const web = await make({ name: 'web', environments: ['production'] });
        const old = await make({ name: 'old', environments: ['production'] });
        await app.call('DELETE', `/api/keys/${old.id}`);
        const idle = await make({ name: 'idle', environments: ['production', 'staging'] });
        const environmentId = await idOf(name, 'production');
        const now = app.node.now;
        const count = (keyId: string, streams: number) => ({ environmentId, keyId, streams });
        await store.savePresence([{ node: 'a', streams: [count(web.id, 2), count('', 1)] }], now);
        await store.savePresence([{ node: 'b', streams: [count(web.id, 3)] }], now - 20_000);
        await storeLastUse(app.home.store, 'project_keys', [[idle.id, now - 1000]]);
        const facts = (key: { id: string; name: string; lastFour: string }) => {
          const { id, name: label, lastFour } = key;
          return { id, name: label, lastFour };
        };
        const at = (time: number) => ({ lastSeenAt: new Date(time).toISOString() });
        const waiting = { ...facts(idle), streams: 0, nodes: 0, ...at(now - 1000) };
        const first = (await app.call('GET', `${path}/clients`)).json.environments;
        expect(first).toHaveLength(3);
        expect(first).toContainEqual({ environment: 'development', streams: 0, nodes: 0, keys: [] });
        expect(first).toContainEqual({ environment: 'staging', streams: 0, nodes: 0, keys: [waiting] });
        expect(first).toContainEqual({
          environment: 'production',
          streams: 6,
          nodes: 2,
          keys: [waiting, { ...facts(web), streams: 5, nodes: 2, ...at(now) }],
        });
        app.node.now = now + PRESENCE_MS - 10_000;
        const later = (await app.call('GET', `${path}/clients`)).json.environments;
        expect(later).toContainEqual({
          environment: 'production',
          streams: 3,
          nodes: 1,
          keys: [waiting, { ...facts(web), streams: 2, nodes: 1, ...at(now) }],
        });
        app.node.now = now;
      });

      test('answers 404 for a missing project', async () => {
        const answer = await app.call('GET', '/api/projects/none/clients');
        expect([answer.status, answer.json.error]).toEqual([404, 'project_not_found']);
      });
    });

    describe('GET /api/projects/{project}/deliveries and /api/changes/{seq}/delivery', () => {
      test('add up the receipts of all nodes', async () => {
        const { name, path } = await app.project();
        const flag = `${path}/environments/production/flags/a`;
        await app.call('PUT', flag, {
          body: { enabled: true },
          headers: { 'X-Confirm-Environment': 'production' },
        });
        const environmentId = await idOf(name, 'production');
        const { entries } = (await app.call('GET', `/api/audit?project=${name}&target=a&limit=1`)).json;
        const { seq } = entries[0];
        const at = app.node.now;
        await store.saveReceipts([
          { seq, node: 'a', environmentId, streams: 200, seen: 199, slowestMs: 38, at },
          { seq, node: 'b', environmentId, streams: 14, seen: 13, slowestMs: 20, at },
        ]);
        const facts = {
          seq,
          project: name,
          environment: 'production',
          revision: 1,
          streams: 214,
          seen: 212,
          slowestMs: 38,
          committedAt: expect.any(String),
        };
        expect((await app.call('GET', `${path}/deliveries`)).json).toEqual({
          deliveries: [
            {
              ...facts,
              changed: [
                { action: 'flag.created', target: 'a' },
                { action: 'flag.changed', target: 'a', environment: 'production' },
              ],
            },
          ],
        });
        expect((await app.call('GET', `/api/changes/${seq}/delivery`)).json).toEqual({
          ...facts,
          nodes: [
            { node: 'a', streams: 200, seen: 199, slowestMs: 38, at: new Date(at).toISOString() },
            { node: 'b', streams: 14, seen: 13, slowestMs: 20, at: new Date(at).toISOString() },
          ],
        });
      });

      test('reject invalid requests, and answer 404 for a change without receipts', async () => {
        const { path } = await app.project();
        const cases = [
          [`${path}/deliveries?limit=0`, 400, 'invalid_argument'],
          [`${path}/deliveries?limit=501`, 400, 'invalid_argument'],
          [`${path}/deliveries?from=`, 400, 'invalid_argument'],
          ['/api/projects/none/deliveries', 404, 'project_not_found'],
          ['/api/changes/1/delivery', 404, 'not_found'],
          ['/api/changes/-1/delivery', 400, 'invalid_argument'],
          ['/api/changes/99999999999999999/delivery', 400, 'invalid_argument'],
        ] as const;
        for (const [target, status, error] of cases) {
          const answer = await app.call('GET', target);
          expect([target, answer.status, answer.json.error]).toEqual([target, status, error]);
        }
      });
    });

    describe('GET /api/events', () => {
      test('is an event stream that proxies must not buffer or store', async () => {
        const { status, headers, text } = await app.call('GET', '/api/events');
        expect([status, headers.get('Content-Type')]).toEqual([200, 'text/event-stream']);
        expect(headers.get('Cache-Control')).toBe('no-cache, no-transform');
        expect(headers.get('X-Accel-Buffering')).toBe('no');
        expect(headers.get('Connection')).toBe('close');
        expect(text).toStartWith('event: hello\n');
        expect((await app.call('HEAD', '/api/events')).text).toBe('');
        expect((await app.call('GET', '/api/events', { token: null })).status).toBe(401);
        expect((await app.call('GET', '/api/events?projekt=x')).json.error).toBe('invalid_argument');
      });
    });
  });
}
