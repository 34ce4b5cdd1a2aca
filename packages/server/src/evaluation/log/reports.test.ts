import { expect, jest, test } from 'bun:test';
import { until } from '@halyard/testing';
import { ReportSender } from './report-sender.ts';
import { parseReport, REPORT_LIMITS, type ReportBody } from './reports.ts';

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
  ['a receipt with more seen than streams', report({ receipts: [{ ...RECEIPT, seen: 3 }] })],
  ['a negative count', report({ receipts: [{ ...RECEIPT, slowestMs: -1 }] })],
  ['a fraction', report({ dropped: 0.5 })],
  ['a name with a line feed', report({ nodes: [{ node: 'a\nb', streams: [] }] })],
  ['too many receipts', report({ receipts: Array.from({ length: 501 }, () => RECEIPT) })],
  ['a long id', report({ relays: ['r'.repeat(201)] })],
])('%s is refused', (_, text) => {
  expect(() => parseReport(text)).toThrow('malformed');
});

function report(more: object): string {
  return JSON.stringify({ ...REPORT, ...more });
}

/** A sender over no streams, and what it has sent. */
function setUp() {
  const sent: ReportBody[] = [];
  const upstream = { isAway: false };
  const sender = new ReportSender({
    node: 'own',
    streams: { size: 0, turnover: 0, streamsByKey: () => new Map() },
    send: async (body) => {
      if (upstream.isAway) throw new Error('away');
      sent.push(body);
    },
    takeContacts: () => new Set(['token']),
  });
  return { sender, sent, upstream };
}

test('receipts beyond the bound and those of a failed report are dropped and counted', async () => {
  jest.useFakeTimers();
  const { sender, sent, upstream } = setUp();
  try {
    sender.live();
    upstream.isAway = true;
    await sender.take({ receipts: [RECEIPT], nodes: [] });
    jest.advanceTimersByTime(250);
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    upstream.isAway = false;
    for (let seq = 1; seq <= REPORT_LIMITS.receipts + 5; seq++) {
      await sender.take({ receipts: [{ ...RECEIPT, seq }], nodes: [] });
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
