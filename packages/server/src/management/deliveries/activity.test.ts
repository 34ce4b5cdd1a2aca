import { afterEach, beforeEach, describe, expect, jest, setDefaultTimeout, test } from 'bun:test';
import { within } from '@halyard/testing';
import type { ChangeKind, LogRow } from '../../domain/change-log.ts';
import type { DeliveryReceipt, DeliveryStore, StreamPresence } from '../../domain/delivery.ts';
import { Catalog } from '../../evaluation/catalog/catalog.ts';
import { Activity } from './activity.ts';
import { DashboardStreams } from './dashboard-events.ts';

setDefaultTimeout(60_000);

/** A node's activity over a real catalog; the store is the test's, with the receipts of other nodes. */
class TestNode {
  readonly catalog = new Catalog({
    ...{ changed: () => {}, environmentGone: () => {}, keyGone: () => {}, malformed: () => {} },
  });
  readonly hub = { size: 0, turnover: 0, streamsByKey: () => new Map<string, Map<string, number>>() };
  readonly written = {
    receipts: [] as DeliveryReceipt[],
    presence: [] as StreamPresence[],
    withdrawn: [] as string[],
  };
  readonly activity: Activity;
  /** How often the readers of environment streams were checked. */
  rechecks = 0;
  #seq = 0;

  constructor() {
    const store: DeliveryStore = {
      saveReceipts: async (receipts) => void this.written.receipts.push(...receipts),
      receipts: async (from, to) => this.written.receipts.filter(({ seq }) => seq >= from && seq <= to),
      savePresence: async (nodes, seenAt) => {
        const others = this.written.presence.filter((row) => nodes.every(({ node }) => row.node !== node));
        const rows = nodes.flatMap(({ node, streams }) =>
          streams.map((count) => ({ ...count, node, seenAt })),
        );
        this.written.presence = [...others, ...rows];
      },
      presence: async (since) => this.written.presence.filter(({ seenAt }) => seenAt >= since),
      removePresence: async (node) => void this.written.withdrawn.push(node),
      prune: async () => {},
      delivery: async (asked) => {
        const receipts = this.written.receipts.filter(({ seq }) => seq === asked);
        return { seq: asked, project: '', environment: '', revision: 1, committedAt: 0, receipts };
      },
      deliveries: () => Promise.reject(new Error('not used here')),
    };
    const { catalog, hub } = this;
    const recheckStreams = () => void this.rechecks++;
    this.activity = new Activity({ node: 'here', catalog, hub, store, onDropped: () => {}, recheckStreams });
    this.activity.live(0);
  }

  /** Applies one row, as the follower does. */
  apply(kind: ChangeKind, payload: unknown, rest: Partial<LogRow> = {}): LogRow {
    const seq = ++this.#seq;
    const row = {
      ...{ seq, changeId: `c${seq}`, kind, projectId: 'p1', payload: JSON.stringify(payload) },
      ...{ actor: 'token:ci', at: 1000 },
      ...rest,
    };
    this.catalog.apply(row);
    this.activity.applied(row);
    return row;
  }

  /** Creates a project of that name with a production environment; returns the environment's id. */
  addProject(name: string): string {
    const projectId = `id-${name}`;
    this.apply('project.created', { name }, { projectId });
    const environmentId = `production-of-${name}`;
    this.apply('environment.created', { name: 'production', revision: 0 }, { projectId, environmentId });
    return environmentId;
  }

  flip(environmentId: string, states: readonly (readonly [string, string | null])[]): LogRow {
    const environment = [...this.catalog.environments()].find(({ id }) => id === environmentId);
    const projectId = environment?.projectId ?? '';
    const revision = (environment?.revision ?? 0) + 1;
    return this.apply('flags.changed', states, { projectId, environmentId, revision });
  }

  watch(project?: string, stillValid = async () => true): Screen {
    return new Screen(this.activity.open({ stillValid, ...(project === undefined ? {} : { project }) }));
  }

  /** As {@link watch}, for someone with roles in these projects alone. */
  watchOnly(visible: readonly string[], stillValid = async () => true): Screen {
    return new Screen(this.activity.open({ stillValid, visible }));
  }
}

/** A reader whose session stays valid. */
const VALID = { stillValid: async () => true };

/** Reads events one by one. */
class Screen {
  readonly #reader;

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  /** The next event: its name and its data; `undefined` at the end. */
  async next(): Promise<readonly [name: string, data: Record<string, unknown>] | undefined> {
    const { value } = await within('the screen gets its next event', this.#reader.read());
    if (value === undefined) return undefined;
    const [, name = '', data = ''] =
      /^event: (\w+)\ndata: (.*)\n\n$/.exec(new TextDecoder().decode(value)) ?? [];
    return [name, JSON.parse(data)];
  }

  /** The next event of a name, whatever comes before it. */
  async nextOf(name: string): Promise<Record<string, unknown>> {
    for (;;) {
      const event = await this.next();
      if (event === undefined) throw new Error('the stream has ended');
      if (event[0] === name) return event[1];
    }
  }
}

let node: TestNode;
beforeEach(() => {
  node = new TestNode();
});
afterEach(() => node.activity.close());

describe('the events for screens', () => {
  test('begins with hello, then sends every change after it, once and in order', async () => {
    const production = node.addProject('shop');
    const screen = node.watch();
    expect(await screen.next()).toEqual(['hello', { seq: 2, node: 'here' }]);
    for (let n = 0; n < 20; n++) node.flip(production, [['a', `{"enabled":true,"value":${n}}`]]);
    for (let n = 0; n < 20; n++) {
      expect(await screen.next()).toEqual([
        'change',
        {
          ...{ seq: 3 + n, kind: 'flags.changed', project: 'shop', environment: 'production' },
          ...{ revision: n + 1, actor: 'token:ci', at: '1970-01-01T00:00:01.000Z' },
          changes: [{ key: 'a', state: { enabled: true, value: n } }],
        },
      ]);
    }
  });

  test('names deleted records, and shows nothing of keys', async () => {
    const environmentId = node.addProject('shop');
    const screen = node.watch('shop');
    await screen.next();
    const projectId = 'id-shop';
    node.apply(
      'key.created',
      { id: 'k', digest: 'd'.repeat(64), environments: ['production'] },
      { projectId },
    );
    node.apply('environment.deleted', {}, { projectId, environmentId });
    node.apply('project.deleted', {}, { projectId });
    const rest = { project: 'shop', actor: 'token:ci', at: '1970-01-01T00:00:01.000Z' };
    expect([await screen.next(), await screen.next(), await screen.next()]).toEqual([
      ['change', { seq: 3, kind: 'key.created', ...rest }],
      ['change', { seq: 4, kind: 'environment.deleted', environment: 'production', ...rest }],
      ['change', { seq: 5, kind: 'project.deleted', ...rest }],
    ]);
    // Records from before the node began to follow have their names too.
    expect(() => node.watch('shop')).toThrow('The project "shop" does not exist');
  });

  test('a change without a recorded actor has no actor', async () => {
    const screen = node.watch();
    await screen.next();
    node.apply('records.changed', { actions: ['token.created'] }, { projectId: '', actor: '' });
    expect(await screen.nextOf('change')).not.toHaveProperty('actor');
  });

  test('who created or revoked a token of a person, a program or a relay is in no event', async () => {
    const screen = node.watch();
    await screen.next();
    node.apply('records.changed', { actions: ['token.created'] }, { projectId: '' });
    node.apply('relay.created', { id: 'r', digest: 'd'.repeat(64) }, { projectId: '' });
    node.apply('relay.revoked', { id: 'r', digest: 'd'.repeat(64) }, { projectId: '' });
    for (const kind of ['records.changed', 'relay.created', 'relay.revoked']) {
      const event = await screen.nextOf('change');
      expect(event).toMatchObject({ kind });
      expect(event).not.toHaveProperty('actor');
    }
  });

  test('a dashboard of one project gets its own events and those of no project', async () => {
    const shop = node.addProject('shop');
    const other = node.addProject('other');
    const screen = node.watch('shop');
    node.flip(other, [['a', '{"enabled":true}']]);
    node.apply('records.changed', { actions: ['token.created'] }, { projectId: '' });
    node.flip(shop, [['a', null]]);
    expect((await screen.next())?.[0]).toBe('hello');
    expect(await screen.nextOf('change')).toMatchObject({
      kind: 'records.changed',
      actions: ['token.created'],
    });
    expect(await screen.nextOf('change')).toMatchObject({
      project: 'shop',
      changes: [{ key: 'a', state: null }],
    });
  });

  test('leaves out states that are too large; dashboards fetch them', async () => {
    const production = node.addProject('shop');
    const screen = node.watch();
    await screen.next();
    node.flip(production, [['a', JSON.stringify({ enabled: true, value: 'x'.repeat(64 * 1024) })]]);
    expect(await screen.next()).toEqual([
      'change',
      expect.not.objectContaining({ changes: expect.anything() }),
    ]);
  });

  test('a damaged state is absent for dashboards, as for readers', async () => {
    const production = node.addProject('shop');
    const screen = node.watch();
    await screen.next();
    node.flip(production, [['a', '{"enabled":']]);
    expect(await screen.nextOf('change')).toMatchObject({ changes: [{ key: 'a', state: null }] });
  });

  test('a lost log ends the stream, and no other is opened before the node is live again', async () => {
    node.addProject('shop');
    const screen = node.watch();
    await screen.next();
    node.activity.lost();
    expect(await screen.next()).toBeUndefined();
    expect(() => node.watch()).toThrow('cannot follow');
    node.apply('records.changed', { actions: [] });
    node.activity.live(3);
    expect(await node.watch('shop').next()).toEqual(['hello', { seq: 3, node: 'here' }]);
  });

  test('disconnects a dashboard that does not read, and keeps the others', async () => {
    const production = node.addProject('shop');
    const stuck = node.watch();
    const screen = node.watch();
    await screen.next();
    const value = 'x'.repeat(60 * 1024);
    for (let n = 0; n < 20; n++) {
      node.flip(production, [['a', JSON.stringify({ enabled: true, value: `${n}${value}` })]]);
      expect(await screen.nextOf('change')).toMatchObject({ seq: 3 + n });
    }
    expect(node.activity.watchers).toBe(1);
    await expect(stuck.next()).rejects.toThrow('stream cut');
  });

  test('a reader with roles in single projects gets nothing of the others, whatever their names are', async () => {
    const mine = node.addProject('mine');
    const theirs = node.addProject('theirs');
    const screen = node.watchOnly(['id-mine']);
    await screen.next();
    expect(() => node.activity.open({ ...VALID, project: 'theirs', visible: ['id-mine'] })).toThrow(
      'does not exist',
    );
    node.addProject('secret');
    node.flip(theirs, [['a', null]]);
    node.activity.progressed({
      ...{ seq: 7, environmentId: theirs, streams: 1, seen: 1, closed: 0, slowestMs: 1, isSettled: false },
    });
    const { seq } = node.flip(mine, [['b', null]]);
    expect(await screen.next()).toMatchObject(['change', { seq, project: 'mine' }]);
    // Another project that gets the name of a deleted one is still another project.
    node.apply('project.deleted', {}, { projectId: 'id-mine' });
    expect(await screen.next()).toMatchObject(['change', { kind: 'project.deleted', project: 'mine' }]);
    node.apply('project.created', { name: 'mine' }, { projectId: 'id-other' });
    node.apply('records.changed', { actions: ['operator.invited'] }, { projectId: '' });
    expect(await screen.next()).toMatchObject(['change', { actions: ['operator.invited'] }]);
  });

  test.each([
    ['operator.changed', true],
    ['operator.removed', true],
    ['operator.password_changed', true],
    ['operator.linked', true],
    ['session.ended', true],
    ['session.refused', true],
    ['token.revoked', true],
    ['session.started', false],
    ['flag.updated', false],
  ])('checks every reader at once after %s: %p', async (action, isChecked) => {
    let checks = 0;
    const screen = node.watch(undefined, async () => ++checks === 0);
    await screen.next();
    node.apply('records.changed', { actions: [action] }, { projectId: '' });
    expect(await screen.next()).toMatchObject(['change', { actions: [action] }]);
    if (isChecked) expect(await screen.next()).toBeUndefined();
    expect([checks, node.rechecks]).toEqual(isChecked ? [1, 1] : [0, 0]);
  });

  test('a reader with a valid session gets keep-alives while nothing happens', async () => {
    const streams = new DashboardStreams({ keepAliveMs: 10 });
    const options = { project: 'shop', stillValid: async () => true };
    const screen = new Screen(streams.open(options, { name: 'hello', data: {} }));
    expect(await screen.next()).toEqual(['hello', {}]);
    expect(await screen.next()).toEqual(['beat', {}]);
    expect(await screen.next()).toEqual(['beat', {}]);
    streams.close();
  });

  test('a reader whose session has ended is disconnected within two keep-alives', async () => {
    const streams = new DashboardStreams({ keepAliveMs: 10 });
    const answers = [async () => true, async () => false, () => Promise.reject(new Error('away'))];
    const [kept, removed, unknown] = answers.map((stillValid) =>
      streams.open({ project: undefined, stillValid }, { name: 'hello', data: {} }).getReader(),
    );
    for (const reader of [kept, removed, unknown]) {
      expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('event: hello\ndata: {}\n\n');
    }
    for (const reader of [removed, unknown]) {
      for (let chunk = await reader?.read(); chunk?.done === false; chunk = await reader?.read());
    }
    expect(streams.size).toBe(1);
    expect(new TextDecoder().decode((await kept?.read())?.value)).toBe('event: beat\ndata: {}\n\n');
    streams.close();
  });
});

describe('the delivery of a change', () => {
  test('is sent at once for this node, and with the other nodes once they have written', async () => {
    const environmentId = node.addProject('shop');
    const screen = node.watch();
    const { seq } = node.flip(environmentId, [['a', null]]);
    node.written.presence = [{ node: 'there', environmentId, keyId: '', streams: 4, seenAt: Date.now() }];
    const settled = { seq, environmentId, streams: 5, seen: 5, closed: 0, slowestMs: 9, isSettled: true };
    node.activity.progressed({ ...settled, seen: 3, isSettled: false });
    node.activity.progressed(settled);
    const facts = { seq, project: 'shop', environment: 'production' };
    expect(await screen.nextOf('delivery')).toEqual({
      ...facts,
      streams: 5,
      seen: 3,
      slowestMs: 9,
      nodes: 1,
    });
    expect(await screen.nextOf('delivery')).toEqual({
      ...facts,
      streams: 5,
      seen: 5,
      slowestMs: 9,
      nodes: 1,
    });
    node.written.receipts.push({
      ...{ seq, node: 'there', environmentId, streams: 4, seen: 3, slowestMs: 20, at: Date.now() },
    });
    expect(await screen.nextOf('delivery')).toEqual({
      ...facts,
      streams: 9,
      seen: 8,
      slowestMs: 20,
      nodes: 2,
    });
    await node.activity.close();
    expect(node.written.receipts.filter((one) => one.node === 'here')).toMatchObject([{ seq, seen: 5 }]);
  });

  test('is sent once per count, and not after the environment is deleted', async () => {
    const [shop, other] = [node.addProject('shop'), node.addProject('other')];
    const screen = node.watch();
    const progressOf = (seq: number, environmentId: string) => ({
      ...{ seq, environmentId, streams: 1, seen: 1, closed: 0, slowestMs: 1, isSettled: true },
    });
    const first = progressOf(node.flip(shop, [['a', null]]).seq, shop);
    const second = progressOf(node.flip(other, [['a', null]]).seq, other);
    node.activity.progressed(first);
    node.activity.progressed(first);
    node.apply('environment.deleted', {}, { projectId: 'id-other', environmentId: other });
    node.activity.progressed(second);
    node.apply('records.changed', { actions: [] });
    const names: string[] = [];
    for (let event = await screen.next(); event !== undefined; event = await screen.next()) {
      names.push(event[0]);
      if (event[1].kind === 'records.changed') break;
    }
    expect(names).toEqual(['hello', 'change', 'change', 'delivery', 'change', 'change']);
  });

  test('is stored without open dashboards', async () => {
    const environmentId = node.addProject('shop');
    const { seq } = node.flip(environmentId, [['a', null]]);
    const progress = { seq, environmentId, streams: 2, seen: 1, closed: 0, slowestMs: 9 };
    node.activity.progressed({ ...progress, isSettled: false });
    node.activity.progressed({ ...progress, isSettled: true });
    await node.activity.close();
    expect(node.written.receipts).toMatchObject([{ seq, node: 'here', streams: 2, seen: 1 }]);
  });
});

describe('a question to this node', () => {
  test('is answered with its current counts, before they are stored', async () => {
    const environmentId = node.addProject('shop');
    const { seq } = node.flip(environmentId, [['a', null]]);
    node.activity.progressed({
      ...{ seq, environmentId, streams: 1, seen: 1, closed: 0, slowestMs: 1, isSettled: true },
    });
    expect((await node.activity.delivery(seq))?.receipts).toMatchObject([{ node: 'here', seen: 1 }]);
    for (const streams of [2, 3]) {
      node.hub.turnover++;
      node.hub.streamsByKey = () => new Map([[environmentId, new Map([['k', streams]])]]);
      expect(await node.activity.presence(0)).toMatchObject([{ node: 'here', keyId: 'k', streams }]);
    }
  });
});

describe('presence', () => {
  test('is sent after an outage of the log during which no dashboard was open', async () => {
    await node.activity.close();
    jest.useFakeTimers();
    try {
      node = new TestNode();
      const environmentId = node.addProject('shop');
      node.activity.lost();
      // One read of the open streams, without changes to send.
      jest.advanceTimersByTime(1_000);
      await new Promise(setImmediate);
      node.activity.live(2);
      node.hub.turnover = 1;
      node.hub.streamsByKey = () => new Map([[environmentId, new Map([['k', 1]])]]);
      const screen = node.watch('shop');
      jest.advanceTimersByTime(1_000);
      expect(await screen.nextOf('presence')).toMatchObject({ environments: [{ streams: 1, nodes: 1 }] });
    } finally {
      jest.useRealTimers();
    }
  });

  test('is sent for all nodes when it changes, and removed when the node stops', async () => {
    const environmentId = node.addProject('shop');
    node.hub.turnover = 3;
    node.hub.streamsByKey = () => new Map([[environmentId, new Map([['k', 2]])]]);
    node.written.presence = [
      { node: 'there', environmentId, keyId: 'k', streams: 5, seenAt: Date.now() + 60_000 },
    ];
    const screen = node.watch('shop');
    expect(await screen.nextOf('presence')).toEqual({
      project: 'shop',
      environments: [{ environment: 'production', streams: 7, nodes: 2 }],
    });
    // The other node has been silent for half a minute: it counts as stopped.
    node.written.presence = node.written.presence.map((row) =>
      row.node === 'there' ? { ...row, seenAt: Date.now() - 31_000 } : row,
    );
    expect(await screen.nextOf('presence')).toMatchObject({ environments: [{ streams: 2, nodes: 1 }] });
    await node.activity.close();
    expect(node.written.withdrawn).toEqual(['here']);
  });
});
