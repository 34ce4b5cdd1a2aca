import { describe, expect, jest, setDefaultTimeout, test } from 'bun:test';
import { until } from '@halyard/testing';
import type { DeliveryReport } from '../../domain/delivery.ts';
import { StoreOutage } from '../../domain/errors.ts';
import { digestOf } from '../../domain/secret.ts';
import type { EnvironmentUsage } from '../../domain/usage.ts';
import { SqlDeliveryStore } from '../../nouns/deliveries/delivery-table.ts';
import { insertKey } from '../../nouns/keys/key-table.ts';
import { insertRelayToken } from '../../nouns/relays/relay-token-table.ts';
import { logSourceOf } from '../../storage/change-log.ts';
import { ENGINES, openTestStore } from '../../storage/test-engines.ts';
import { ADA, makeKey, seed } from '../../storage/test-records.ts';
import { ReportSender } from './report-sender.ts';
import { MAX_REPORT_BYTES, parseReport, REPORT_LIMITS, type ReportBody } from './reports.ts';
import { startUpstream } from './test-upstream.ts';

setDefaultTimeout(60_000);

const RECEIPT = { seq: 1, node: 'a', environmentId: 'e', streams: 2, seen: 2, slowestMs: 3, at: 4 };
const REPORT: ReportBody = {
  receipts: [RECEIPT],
  nodes: [{ node: 'a', streams: [{ environmentId: 'e', keyId: 'k', streams: 2 }] }],
  relays: ['r'],
  dropped: 0,
};

test('a report is read as it was sent', () => {
  expect(parseReport(JSON.stringify(REPORT))).toEqual(REPORT);
});

test.each([
  ['text', 'report'],
  ['a list', '[]'],
  ['one without receipts', report({ receipts: undefined })],
])('%s is refused', (_, text) => {
  expect(() => parseReport(text)).toThrow('malformed');
});

describe('of a report, a node below cannot spoil more than its own part:', () => {
  const STREAM = { environmentId: 'e', keyId: 'k', streams: 2 };
  test.each([
    ['a receipt with more seen than streams', { receipts: [{ ...RECEIPT, seen: 3 }, RECEIPT] }],
    ['a negative count', { receipts: [RECEIPT, { ...RECEIPT, seq: 2, slowestMs: -1 }] }],
    ['a receipt sent twice', { receipts: [RECEIPT, RECEIPT] }],
    ['an entry that is not an object', { receipts: [null, RECEIPT] }],
    ['a name with a line feed', { nodes: [{ node: 'a\nb', streams: [] }, ...REPORT.nodes] }],
    ['a name that is too long', { nodes: [{ node: 'a'.repeat(201), streams: [] }, ...REPORT.nodes] }],
    ['a node without a list', { nodes: [...REPORT.nodes, { node: 'b' }] }],
    ['a node sent twice', { nodes: [{ node: 'a', streams: [] }, ...REPORT.nodes] }],
    [
      'a count that no node can have',
      { nodes: [{ node: 'a', streams: [STREAM, { ...STREAM, keyId: 'l', streams: 2 ** 40 }] }] },
    ],
    ['a key sent twice', { nodes: [{ node: 'a', streams: [STREAM, STREAM] }] }],
  ])('%s is dropped and counted', (_, more) => {
    expect(parseReport(report(more))).toEqual({ ...REPORT, dropped: 1 });
  });

  test('receipts and tokens beyond the bound are dropped, the oldest first', () => {
    const receipts = Array.from({ length: REPORT_LIMITS.receipts + 2 }, (_, seq) => ({ ...RECEIPT, seq }));
    const relays = Array.from({ length: REPORT_LIMITS.relays + 2 }, (_, index) => `r${index}`);
    const parsed = parseReport(report({ receipts, relays: [...relays, 'r'.repeat(201)] }));
    expect([parsed.receipts.length, parsed.receipts[0]?.seq, parsed.dropped]).toEqual([500, 2, 2]);
    expect(parsed.relays.length).toBe(REPORT_LIMITS.relays);
  });

  test('what is not true is dropped, and a name is as short at the next tier', async () => {
    const [engine] = ENGINES;
    if (engine === undefined) throw new Error('no engine');
    await using home = await openTestStore(engine);
    const { project, environment } = await seed(home.store);
    const key = makeKey(project, 'live');
    const token = { id: 'first-token', name: 'first', createdAt: 1 };
    await home.store.commit(ADA, async (transaction) => {
      await insertKey(transaction, key, 'a'.repeat(64));
      await insertRelayToken(transaction, token, digestOf('secret'));
    });
    const taken: [DeliveryReport, number][] = [];
    const onReport = async (...args: [DeliveryReport, number]) => void taken.push(args);
    using upstream = await startUpstream(logSourceOf(home.database), { authorize: undefined, onReport });
    const stream = { environmentId: environment.id, keyId: key.id, streams: 2 };
    const below = `${'x'.repeat(190)}/tier`;
    const sent = {
      receipts: [
        RECEIPT,
        { ...RECEIPT, environmentId: environment.id },
        { ...RECEIPT, environmentId: environment.id, seq: 99 },
      ],
      nodes: [
        {
          node: below,
          streams: [stream, { ...stream, keyId: 'unknown' }, { ...stream, environmentId: 'e' }],
        },
        { node: 'bad name', streams: [] },
      ],
    };
    await upstream.remote({ token: 'secret' }).report({ ...REPORT, ...sent });
    const [[report, dropped] = []] = taken;
    expect(report?.receipts.map(({ environmentId, seq }) => [environmentId, seq])).toEqual([
      [environment.id, 1],
    ]);
    expect(dropped).toBe(3);
    expect(report?.nodes.map(({ streams }) => streams)).toEqual([[stream]]);
    const name = report?.nodes[0]?.node ?? '';
    expect(name).toMatch(/^st-token\/[0-9a-f]{32}$/);
    expect(parseReport(JSON.stringify({ ...REPORT, nodes: report?.nodes })).dropped).toBe(0);
  });
});

for (const engine of ENGINES) {
  test(`on ${engine.name}, one token has few rows, however much its followers invent`, async () => {
    await using home = await openTestStore(engine);
    const { project, environment } = await seed(home.store);
    const key = makeKey(project, 'live');
    const token = { id: 'first-token', name: 'first', createdAt: 1 };
    await home.store.commit(ADA, async (transaction) => {
      await insertKey(transaction, key, 'a'.repeat(64));
      await insertRelayToken(transaction, token, digestOf('secret'));
    });
    const store = new SqlDeliveryStore(home.database);
    const onReport = async ({ nodes, receipts }: DeliveryReport) => {
      await store.savePresence(nodes, Date.now());
      await store.saveReceipts(receipts);
    };
    using upstream = await startUpstream(logSourceOf(home.database), {
      authorize: undefined,
      onReport,
      reportLimits: { nodes: 20, counts: 10, streams: 5_000, bytes: 1024 * 1024 },
    });
    const send = (body: Partial<ReportBody>) =>
      upstream.remote({ token: 'secret' }).report({ ...REPORT, receipts: [], nodes: [], ...body });

    const stream = { environmentId: environment.id, keyId: key.id, streams: 1_000_000_000 };
    const own = { node: 'own', streams: [{ ...stream, streams: 7 }] };
    await send({ nodes: [own] });
    const { seq } = upstream.plane.follower;
    const receipt = { ...RECEIPT, environmentId: environment.id, seq, streams: 1_000, seen: 0 };
    for (let round = 0; round < 2; round++) {
      const names = Array.from({ length: 300 }, (_, index) => `invented-${round}-${index}`);
      await send({
        nodes: [
          own,
          ...names.map((node, index) => ({ node, streams: [{ ...stream, streams: 10 * index }] })),
        ],
        receipts: names.map((node) => ({ ...receipt, node })),
      });
    }
    await send({ nodes: [{ node: 'one', streams: [stream] }] });

    const rows = await store.presence(Date.now());
    expect(rows.length).toBeLessThanOrEqual(10);
    expect(rows.filter(({ node }) => node.endsWith('/own')).map(({ streams }) => streams)).toEqual([7]);
    expect(rows.reduce((sum, { streams }) => sum + streams, 0)).toBeLessThanOrEqual(5_000);
    // The receipts of one change have no more streams than the open ones.
    expect(await store.receipts(seq, seq)).toHaveLength(5);
    expect(upstream.logServer.refusedEntries).toBeGreaterThan(1_000);

    // What reports cost in bytes and rows is bounded, too.
    const flood = async () => {
      for (let count = 0; count < 50; count++)
        await send({ relays: Array.from({ length: 900 }, (_, index) => `${index}${'x'.repeat(100)}`) });
    };
    await expect(flood()).rejects.toMatchObject({ name: 'StoreOutage', retryAfterMs: expect.any(Number) });
  });
}

function report(more: object): string {
  return JSON.stringify({ ...REPORT, ...more });
}

/** A sender over no streams, and what it has sent. */
function setUp() {
  const sent: ReportBody[] = [];
  const upstream = {
    isAway: false,
    answered: Promise.resolve(),
    asked: 0,
    askedMs: undefined as number | undefined,
  };
  const usage: EnvironmentUsage[] = [];
  const sender = new ReportSender({
    node: 'own',
    streams: { size: 0, turnover: 0, streamsByKey: () => new Map() },
    send: async (body) => {
      upstream.asked++;
      if (upstream.isAway) throw new Error('away');
      const { askedMs } = upstream;
      if (askedMs !== undefined) throw new StoreOutage('busy', { retryAfterMs: askedMs });
      sent.push(body);
      await upstream.answered;
    },
    usage: { take: () => usage.splice(0), add: (each) => usage.push(each) },
    takeContacts: () => new Set(['token']),
  });
  return { sender, sent, upstream, usage };
}

test('reads of flags are sent upstream once a minute, in parts that fit, and again after a failure', async () => {
  jest.useFakeTimers();
  const { sender, sent, upstream, usage } = setUp();
  /** In steps: one report is sent at a time, and there are others. */
  const minute = async () => {
    for (let ms = 0; ms <= 60_000; ms += 1000) {
      jest.advanceTimersByTime(1000);
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    }
  };
  try {
    sender.live();
    const flags = Array.from({ length: 2001 }, (_, i): [string, number, number] => [`flag-${i}`, 1, 0]);
    usage.push({ environmentId: 'e', flags });
    upstream.isAway = true;
    await minute();
    expect(usage.map((each) => each.flags.length)).toEqual([2000, 1]);
    upstream.isAway = false;
    await minute();
    const counted = sent.flatMap((body) => parseReport(JSON.stringify(body)).usage ?? []);
    expect(counted.flatMap((each) => each.flags)).toEqual(flags);
    for (const body of sent) expect(JSON.stringify(body).length).toBeLessThan(MAX_REPORT_BYTES / 2);
  } finally {
    jest.useRealTimers();
  }
  usage.push({ environmentId: 'e', flags: [['last', 0, 1]] });
  await sender.close();
  expect(sent.at(-2)?.usage).toEqual([{ environmentId: 'e', flags: [['last', 0, 1]] }]);
});

test('drops malformed reads of flags and keeps the others', () => {
  const good = { environmentId: 'e', flags: [['a', 1, 2]] };
  const usage = [
    ...[good, null, { environmentId: 'e\n', flags: [] }, { environmentId: 'e' }],
    { environmentId: 'f', flags: [['b', -1, 0], ['b', 1], [1, 1, 1], 'b', ['c', 0, 1]] },
  ];
  expect(parseReport(report({ usage })).usage).toEqual([
    good,
    { environmentId: 'f', flags: [['c', 0, 1]] },
  ] as never);
});

test('receipts beyond the bound and those of a failed report are dropped and counted', async () => {
  jest.useFakeTimers();
  const { sender, sent, upstream } = setUp();
  try {
    sender.live();
    upstream.isAway = true;
    await sender.take({ receipts: [RECEIPT], nodes: [] }, 0);
    jest.advanceTimersByTime(250);
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    upstream.isAway = false;
    for (let seq = 1; seq <= REPORT_LIMITS.receipts + 5; seq++) {
      await sender.take({ receipts: [{ ...RECEIPT, seq }], nodes: [] }, 0);
    }
    jest.advanceTimersByTime(250);
  } finally {
    jest.useRealTimers();
  }
  await until('a report is sent', () => sent.length === 1);
  expect(sent[0]?.receipts.map(({ seq }) => seq).slice(0, 2)).toEqual([6, 7]);
  expect(sent[0]).toMatchObject({ dropped: 6, relays: ['token'] });
  await sender.close();
});

test('while the upstream is away nothing is sent, and a stop reports that no stream is left', async () => {
  const { sender, sent } = setUp();
  await sender.close();
  expect(sent).toEqual([]);
  const second = setUp();
  second.sender.live();
  await second.sender.close();
  expect(second.sent.map(({ nodes }) => nodes)).toEqual([[{ node: 'own', streams: [] }]]);
});

test('a relay names a few nodes below it and adds up the streams of more, whatever they report', async () => {
  const { sender, sent } = setUp();
  const id = '01890000-0000-7000-8000-000000000000';
  const streams = Array.from({ length: 5 }, (_, index) => ({
    environmentId: id,
    keyId: `${id}${index}`,
    streams: 9,
  }));
  const nodes = Array.from({ length: 4000 }, (_, index) => ({ node: `${index}/${'n'.repeat(90)}`, streams }));
  const receipts = nodes.map(({ node }, seq) => ({ ...RECEIPT, environmentId: id, node, seq }));
  await sender.take({ receipts: [], nodes: nodes.slice(0, 2) }, 0);
  sender.live();
  await until('the first ones are reported', () => sent.length === 1);
  expect(sent[0]?.nodes).toEqual([{ node: 'own', streams: [] }, ...nodes.slice(0, 2)]);

  await sender.take({ receipts, nodes }, 7);
  await until('all are reported', () => sent.at(-1)?.nodes[1]?.node === 'own/below');
  const [own, below, ...closed] = sent.at(-1)?.nodes ?? [];
  const kept = (below?.streams[0]?.streams ?? 0) / 9;
  expect(kept).toBeGreaterThan(600);
  expect(own).toEqual({ node: 'own', streams: [] });
  expect(below?.streams).toEqual(streams.map((count) => ({ ...count, streams: kept * 9 })));
  // Their streams are counted where they were added up, and no longer by name.
  expect(closed).toEqual(nodes.slice(0, 2).map(({ node }) => ({ node, streams: [] })));

  const dropped = sent.reduce((sum, body) => sum + body.dropped, 0);
  expect(dropped).toBe(7 + (4000 - kept) * 5 + 4000 - REPORT_LIMITS.receipts);
  for (const body of sent) {
    const text = JSON.stringify(body);
    expect(text.length).toBeLessThanOrEqual(MAX_REPORT_BYTES);
    expect(parseReport(text)).toEqual(body as ReportBody);
  }
  await sender.close();
});

test('a relay that is asked to come again sends no report before', async () => {
  jest.useFakeTimers();
  const { sender, sent, upstream } = setUp();
  const seconds = async (count: number) => {
    for (let ms = 0; ms < count * 1000; ms += 250) {
      jest.advanceTimersByTime(250);
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    }
  };
  try {
    upstream.askedMs = 5000;
    sender.live();
    await seconds(4);
    expect(upstream.asked).toBe(1);
    upstream.askedMs = undefined;
    await seconds(7);
    expect(sent.length).toBeGreaterThan(0);
  } finally {
    jest.useRealTimers();
  }
  await sender.close();
});

test('what is dropped while a report is on its way is counted in the next', async () => {
  const { sender, sent, upstream } = setUp();
  const answer = Promise.withResolvers<void>();
  upstream.answered = answer.promise;
  await sender.take({ receipts: [RECEIPT], nodes: [] }, 2);
  sender.live();
  await until('a report is on its way', () => sent.length === 1);
  await sender.take({ receipts: [RECEIPT], nodes: [] }, 5);
  answer.resolve();
  await until('the next report is sent', () => sent.length === 2);
  expect(sent.map(({ dropped }) => dropped)).toEqual([2, 5]);
  await sender.close();
});
