import { afterEach, expect, test } from 'bun:test';
import { within } from '@halyard/testing';
import type { DeliveryReceipt } from '../../domain/delivery.ts';
import { DeliveryBoard, ReceiptWriter } from './receipts.ts';

const writers: ReceiptWriter[] = [];

afterEach(async () => {
  for (const writer of writers.splice(0)) await writer.close();
});

/** A writer over a store that can be away. */
function setUp() {
  const store = {
    isAway: false,
    prunings: 0,
    batches: [] as (readonly DeliveryReceipt[])[],
    written: Promise.withResolvers<void>(),
  };
  const dropped: number[] = [];
  const writer = new ReceiptWriter({
    store: {
      saveReceipts: async (receipts) => {
        store.written.resolve();
        if (store.isAway) throw new Error('the database is away');
        store.batches.push(receipts);
      },
      prune: async () => void store.prunings++,
    },
    now: Date.now,
    onDropped: (count) => dropped.push(count),
  });
  writers.push(writer);
  return { store, writer, dropped };
}

function receipt(seq: number): DeliveryReceipt {
  return { seq, node: 'a', environmentId: 'e', streams: 1, seen: 1, slowestMs: 1, at: 0 };
}

test('writes receipts together, later', async () => {
  const { store, writer, dropped } = setUp();
  for (const seq of [1, 2, 3]) writer.add(receipt(seq));
  expect(store.batches).toEqual([]);
  await within('receipts are written', store.written.promise);
  expect(store.batches.map((batch) => batch.map(({ seq }) => seq))).toEqual([[1, 2, 3]]);
  expect(dropped).toEqual([]);
});

test('drops and counts receipts while the database is away, and then writes again', async () => {
  const { store, writer, dropped } = setUp();
  store.isAway = true;
  writer.add(receipt(1));
  writer.add(receipt(2));
  await within('receipts are written', store.written.promise);
  store.isAway = false;
  store.written = Promise.withResolvers();
  writer.add(receipt(3));
  await within('receipts are written', store.written.promise);
  expect(dropped).toEqual([2]);
  expect(store.batches).toEqual([[receipt(3)]]);
});

test('drops the oldest receipts under load', async () => {
  const { store, writer, dropped } = setUp();
  for (let seq = 1; seq <= 510; seq++) writer.add(receipt(seq));
  await writer.close();
  expect(dropped).toHaveLength(10);
  expect(store.batches.flat().map(({ seq }) => seq)).toEqual(Array.from({ length: 500 }, (_, n) => n + 11));
});

test('removes old receipts after a thousand new ones', async () => {
  const { store, writer } = setUp();
  for (let round = 0; round < 2; round++) {
    store.written = Promise.withResolvers();
    for (let seq = 1; seq <= 500; seq++) writer.add(receipt(round * 500 + seq));
    await within('receipts are written', store.written.promise);
  }
  await writer.close();
  expect(store.prunings).toBe(1);
});

test('writes waiting receipts when the node stops', async () => {
  const { store, writer } = setUp();
  writer.add(receipt(1));
  await writer.close();
  writer.add(receipt(2));
  await writer.close();
  expect(store.batches).toEqual([[receipt(1)]]);
});

test('the nodes whose counts of a change are added up for dashboards are bounded', () => {
  let last = 0;
  const board = new DeliveryBoard({
    node: 'own',
    store: { receipts: async () => [] },
    hasPeers: () => false,
    onTotals: (_, __, { nodes }) => {
      last = nodes;
    },
  });
  board.expect(1, 'e');
  for (let node = 0; node < 2100; node++) board.note({ ...receipt(1), node: `relay-${node}` });
  expect(last).toBe(2000);
  board.clear();
});
