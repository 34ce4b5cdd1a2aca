import { afterEach, beforeEach, describe, expect, jest, setDefaultTimeout, test } from 'bun:test';
import { TestNode } from './test-activity.ts';

setDefaultTimeout(60_000);

let node: TestNode;
beforeEach(() => {
  node = new TestNode();
});
afterEach(() => node.activity.close());

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
      seq,
      node: 'there',
      environmentId,
      streams: 4,
      seen: 3,
      slowestMs: 20,
      at: Date.now(),
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
      seq,
      environmentId,
      streams: 1,
      seen: 1,
      closed: 0,
      slowestMs: 1,
      isSettled: true,
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
      seq,
      environmentId,
      streams: 1,
      seen: 1,
      closed: 0,
      slowestMs: 1,
      isSettled: true,
    });
    expect((await node.activity.delivery(seq))?.receipts).toMatchObject([{ node: 'here', seen: 1 }]);
    for (const streams of [2, 3]) {
      node.hub.turnover++;
      node.hub.streamsByKey = () => new Map([[environmentId, new Map([['k', streams]])]]);
      expect(await node.activity.presence(Date.now())).toMatchObject([{ node: 'here', keyId: 'k', streams }]);
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
    // A client goes over to another key: the numbers are the same, and whose streams they are has changed.
    node.hub.turnover = 4;
    node.hub.streamsByKey = () =>
      new Map([
        [
          environmentId,
          new Map([
            ['k', 1],
            ['l', 1],
          ]),
        ],
      ]);
    expect(await screen.nextOf('presence')).toMatchObject({ environments: [{ streams: 2, nodes: 1 }] });
    await node.activity.close();
    expect(node.written.withdrawn).toEqual(['here']);
  });
});
