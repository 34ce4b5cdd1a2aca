import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  Management,
  type NodeProcess,
  openSse,
  randomAdminToken,
  type SseReader,
  sharedPostgres,
  startNode,
  startTcpProxy,
  temporaryFolder,
  until,
} from '@halyard/testing';

setDefaultTimeout(120_000);

// Answers of the management API; a test that gets another shape fails where it uses it.
interface Delivery {
  readonly seq: number;
  readonly streams: number;
  readonly seen: number;
  readonly slowestMs: number;
}
interface DeliveryByNode extends Delivery {
  readonly nodes: readonly (Delivery & { readonly node: string })[];
}
interface Clients {
  readonly environments: readonly {
    readonly environment: string;
    readonly streams: number;
    readonly nodes: number;
    readonly keys: readonly { readonly name: string; readonly streams: number; readonly nodes: number }[];
  }[];
}

/** Real nodes on one database, and what a test opens on them. */
class Installation implements AsyncDisposable {
  readonly nodes: readonly NodeProcess[];
  readonly #readers: SseReader[] = [];

  constructor(nodes: readonly NodeProcess[]) {
    this.nodes = nodes;
  }

  node(index: number): NodeProcess {
    const node = this.nodes[index];
    if (node === undefined) throw new Error(`there is no node ${index}`);
    return node;
  }

  management(index = 0): Management {
    return new Management(this.node(index));
  }

  /** A project with a key for production. */
  async project(name: string): Promise<string> {
    await this.management().createProject(name);
    const { key } = await this.management().createKey(name, ['production'], { name: `${name}-key` });
    return key;
  }

  /** Opens streams of production and waits for their first frames. */
  async streams(index: number, key: string, count: number): Promise<readonly SseReader[]> {
    const url = `${this.node(index).url}/v1/stream?env=production`;
    const open = () => this.open(url, { 'x-service-key': key });
    const readers = await Promise.all(Array.from({ length: count }, open));
    for (const reader of readers) await reader.nextFrame();
    return readers;
  }

  /** Opens the event stream of dashboards; returns a reader of the events of one name. */
  async events(index: number, query = ''): Promise<EventReader> {
    const { url, adminToken } = this.node(index);
    const authorization = `Bearer ${adminToken}`;
    return new EventReader(await this.open(`${url}/api/events${query}`, { authorization }));
  }

  /** Opens a stream as soon as this node knows the records that were created on the other one. */
  async open(url: string, headers: Readonly<Record<string, string>>): Promise<SseReader> {
    return await until(`${url} is an open stream`, async () => {
      const reader = await openSse(url, { headers });
      this.#readers.push(reader);
      if (reader.status === 200) return reader;
      reader.close();
      return undefined;
    });
  }

  async flip(project: string, value: unknown, index = 0): Promise<void> {
    await this.management(index).putState(project, 'production', 'a', { enabled: true, value });
  }

  /** Asks until the newest delivery of a project is as expected; returns it by node. */
  async delivery(project: string, isDone: (delivery: Delivery) => boolean): Promise<DeliveryByNode> {
    const newest = await until(`the newest delivery of ${project} is as expected`, async () => {
      const path = `/api/projects/${project}/deliveries?limit=1`;
      const answer = (await this.management().request('GET', path)) as { deliveries: Delivery[] };
      return answer.deliveries.find(isDone);
    });
    const path = `/api/changes/${newest.seq}/delivery`;
    return (await this.management().request('GET', path)) as DeliveryByNode;
  }

  async production(project: string) {
    const path = `/api/projects/${project}/clients`;
    const { environments } = (await this.management().request('GET', path)) as Clients;
    return environments.find(({ environment }) => environment === 'production');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const reader of this.#readers) reader.close();
    await Promise.all(this.nodes.map((node) => node.stop()));
  }
}

/** Reads named events one by one. */
class EventReader {
  readonly reader: SseReader;

  constructor(reader: SseReader) {
    this.reader = reader;
  }

  async next(): Promise<readonly [name: string, data: Record<string, unknown>]> {
    const { fields, data } = await this.reader.nextFrame(30_000);
    return [fields.find(([name]) => name === 'event')?.[1] ?? '', JSON.parse(data)];
  }

  /** The next event of a name that is as expected. */
  async nextOf(
    name: string,
    isIt: (data: Record<string, unknown>) => boolean = () => true,
  ): Promise<Record<string, unknown>> {
    for (;;) {
      const [found, data] = await this.next();
      if (found === name && isIt(data)) return data;
    }
  }
}

const ENV = { HALYARD_DRAIN_SECONDS: '0', HALYARD_MAX_QUEUED_BYTES: '64MiB' };

/** Two nodes on each engine: on PostgreSQL, and as two processes on one file. */
const PLACES = {
  sqlite: async () => {
    const folder = temporaryFolder();
    return { options: { dataFolder: folder.path }, remove: () => folder.remove() };
  },
  postgres: async () => {
    const databaseUrl = await (await sharedPostgres()).createDatabase();
    return { options: { databaseUrl }, remove: () => {} };
  },
} as const;

for (const [engine, create] of Object.entries(PLACES)) {
  describe(`two nodes on ${engine}`, () => {
    let installation: Installation;
    let remove = () => {};
    beforeAll(async () => {
      const place = await create();
      remove = place.remove;
      const adminToken = randomAdminToken();
      const start = () => startNode({ ...place.options, env: ENV, adminToken });
      installation = new Installation([await start(), await start()]);
    });
    afterAll(async () => {
      await installation[Symbol.asyncDispose]();
      remove();
    });

    test('all streams of both nodes see a change, and a dashboard on one node learns of both', async () => {
      const key = await installation.project('both');
      await installation.streams(0, key, 3);
      await installation.streams(1, key, 2);
      const events = await installation.events(0, '?project=both');
      await installation.flip('both', 1);
      const event = await events.nextOf('delivery', ({ streams }) => streams === 5);
      expect(event).toMatchObject({ project: 'both', environment: 'production', seen: 5, nodes: 2 });
      const delivery = await installation.delivery('both', ({ streams }) => streams === 5);
      expect(delivery).toMatchObject({ revision: 1, streams: 5, seen: 5 });
      expect(delivery.nodes.map(({ streams, seen }) => [streams, seen]).sort()).toEqual([
        [2, 2],
        [3, 3],
      ]);
      expect(delivery.slowestMs).toBe(Math.max(...delivery.nodes.map(({ slowestMs }) => slowestMs)));
    });

    test('a reader that does not read is not counted as seen', async () => {
      const key = await installation.project('stuck');
      await installation.streams(0, key, 2);
      const [stuck] = await installation.streams(0, key, 1);
      stuck?.pause();
      // The kernel takes some megabytes for a reader that sleeps; once that is full, frames stay with the node.
      const value = 'x'.repeat(60_000);
      const changes = Array.from({ length: 40 }, (_, n) => ({
        key: `f${n}`,
        state: { enabled: true, value },
      }));
      for (let n = 0; n < 6; n++) {
        await installation
          .management()
          .change('stuck', 'production', [
            ...changes,
            { key: 'counter', state: { enabled: true, value: n } },
          ]);
      }
      const delivery = await installation.delivery(
        'stuck',
        ({ streams, seen }) => streams === 3 && seen === 2,
      );
      expect(delivery.nodes).toMatchObject([{ streams: 3, seen: 2 }]);
    });

    test('a change without open streams has no receipt', async () => {
      await installation.project('nobody');
      const events = await installation.events(0, '?project=nobody');
      await installation.flip('nobody', 1);
      const { seq } = await events.nextOf('change');
      const asking = installation.management().request('GET', `/api/changes/${seq}/delivery`);
      await expect(asking).rejects.toMatchObject({ status: 404, body: { error: 'not_found' } });
      const wrong = installation.management().request('GET', '/api/changes/first/delivery');
      await expect(wrong).rejects.toMatchObject({ status: 400, body: { error: 'invalid_argument' } });
    });

    test('sends every change once and in order after hello, including those of the other node', async () => {
      await installation.project('ordered');
      const screens = [await installation.events(0), await installation.events(1)];
      const hellos = await Promise.all(screens.map((screen) => screen.next()));
      expect(hellos.map(([name]) => name)).toEqual(['hello', 'hello']);
      for (let n = 0; n < 20; n++) await installation.flip('ordered', n, n % 2);
      for (const [index, screen] of screens.entries()) {
        const seqs: number[] = [];
        const values: unknown[] = [];
        while (values.at(-1) !== 19) {
          const change = await screen.nextOf('change');
          seqs.push(Number(change.seq));
          const [first] = (change.changes ?? []) as { state: { value: unknown } }[];
          // The other node may still be telling of what an earlier test has done.
          if (first !== undefined && change.project === 'ordered') values.push(first.state.value);
        }
        expect(values).toEqual(Array.from({ length: 20 }, (_, n) => n));
        const start = Number(hellos[index]?.[1].seq) + 1;
        expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, n) => start + n));
      }
    });

    test('the streams of both nodes add up, by environment and key', async () => {
      const key = await installation.project('present');
      const events = await installation.events(1, '?project=present');
      const first = await installation.streams(0, key, 2);
      await installation.streams(1, key, 3);
      const seen = await events.nextOf('presence', ({ environments }) =>
        JSON.stringify(environments).includes('"streams":5'),
      );
      expect(seen.environments).toContainEqual({ environment: 'production', streams: 5, nodes: 2 });
      // The API returns the same counts that dashboards got.
      expect(await installation.production('present')).toMatchObject({
        streams: 5,
        nodes: 2,
        keys: [{ name: 'present-key', streams: 5, nodes: 2, lastSeenAt: expect.any(String) }],
      });
      for (const stream of first) stream.close();
      await events.nextOf('presence', ({ environments }) =>
        JSON.stringify(environments).includes('"streams":3,"nodes":1'),
      );
    });

    test('a revoked access token of a project loses its streams on the other node', async () => {
      await installation.project('watched');
      const projects = [{ project: 'watched', role: 'viewer' }];
      const body = { name: `screen-${engine}`, projects };
      const made = (await installation.management().request('POST', '/api/tokens', { body })) as {
        readonly id: string;
        readonly token: string;
      };
      const paths = ['/api/events', '/api/projects/watched/environments/production/stream'];
      const readers = await Promise.all(
        paths.map((path) =>
          installation.open(`${installation.node(1).url}${path}`, { authorization: `Bearer ${made.token}` }),
        ),
      );
      for (const reader of readers) await reader.nextFrame();
      await installation.management().request('DELETE', `/api/tokens/${made.id}`);
      for (const reader of readers) expect((await reader.untilEnded()).how).toBe('closed');
    });

    test('a stopping node removes its streams from the list at once', async () => {
      const key = await installation.project('stopping');
      await installation.streams(1, key, 2);
      await until(
        'both streams are listed',
        async () => (await installation.production('stopping'))?.streams === 2,
      );
      await installation.node(1).stop();
      expect(await installation.production('stopping')).toMatchObject({ streams: 0, nodes: 0 });
    });
  });
}

test('a node that loses the log closes the streams of dashboards, and accepts them again once it has caught up', async () => {
  const target = new URL(await (await sharedPostgres()).createDatabase());
  const proxy = await startTcpProxy({ port: Number(target.port), host: target.hostname });
  target.hostname = '127.0.0.1';
  target.port = String(proxy.port);
  const node = await startNode({ databaseUrl: target.href, env: ENV });
  await using installation = new Installation([node]);
  await installation.project('shop');
  const events = await installation.events(0);
  const [, hello] = await events.next();
  proxy.refuse();
  expect((await events.reader.untilEnded()).how).toBe('closed');
  const refused = await openSse(`${node.url}/api/events`, {
    headers: { authorization: `Bearer ${node.adminToken}` },
  });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([500, '1']);
  refused.close();
  proxy.restore();
  const again = await installation.events(0);
  expect((await again.next())[1].seq).toBe(hello.seq);
  await installation.flip('shop', 1);
  expect(await again.nextOf('change')).toMatchObject({ project: 'shop', changes: [{ key: 'a' }] });
  await installation[Symbol.asyncDispose]();
  await proxy.close();
});
