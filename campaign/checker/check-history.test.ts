import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { checkHistory } from './check-history.ts';
import { READERS } from './history.ts';
import { answeredSteps, anySteps, perfectHistory, type Step } from './perfect-fleet.ts';
import { CLIENT_FAULTS } from './planted-client-faults.ts';
import { PLANTED_FAULTS } from './planted-faults.ts';

test('a history without faults has no violations', () => {
  fc.assert(
    fc.property(anySteps, (steps) => {
      expect(checkHistory(perfectHistory(steps))).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test('an unanswered write that no reader saw is allowed either way', () => {
  const steps: Step[] = [
    { kind: 'disconnect', reader: 0 },
    { kind: 'disconnect', reader: 3 },
    ...(['unknown-committed', 'unknown-lost', 'unknown-committed', 'acknowledged'] as const).map(
      (fate): Step => ({ kind: 'write', environment: 0, node: 0, shape: 'create', fate }),
    ),
  ];
  expect(checkHistory(perfectHistory(steps))).toEqual([]);
});

test('a revision that no write explains is reported', () => {
  const history = perfectHistory([
    { kind: 'write', environment: 0, node: 0, shape: 'counter', fate: 'acknowledged' },
    { kind: 'write', environment: 0, node: 0, shape: 'counter', fate: 'acknowledged' },
  ]);
  const violations = checkHistory({ ...history, writes: history.writes.slice(1) });
  const kinds = violations.map(({ kind }) => kind);
  expect(kinds).toContain('unexplained-revision');
});

test('processes of one node may differ by a moment, but each knows the acknowledged writes', () => {
  const write = { kind: 'write', environment: 0, node: 0, shape: 'counter', fate: 'acknowledged' } as const;
  const read = { kind: 'read', environment: 0, node: 0 } as const;
  const history = perfectHistory([write, read, read]);
  const [newer, older] = history.reads.filter(({ kind }) => kind === 'read');
  const base = history.environments.get(older?.environment ?? '');
  if (newer === undefined || older === undefined || base === undefined)
    throw new Error('there are two reads');
  const behind = { ...older, ...base, process: 'b' };
  const reads = [{ ...newer, process: 'a' }, behind];
  // Only the frames and reads of process a said so, and process b was behind.
  const unanswered = history.writes.map((each) => ({ ...each, outcome: 'unknown' as const }));
  const kindsOf = (writes: typeof history.writes) =>
    checkHistory({ ...history, writes, reads, streams: [], eventStreams: [] }).map(({ kind }) => kind);
  expect(kindsOf(unanswered)).not.toContain('went-back');
  expect(kindsOf(history.writes)).toContain('went-back');
});

test('a process that starts from the last known flags may lack earlier writes while it says that it may be old', () => {
  const write = { kind: 'write', environment: 0, node: 0, shape: 'counter', fate: 'acknowledged' } as const;
  const history = perfectHistory([write, { kind: 'read', environment: 0, node: 0 }]);
  const read = history.reads.find(({ kind }) => kind === 'read');
  const base = history.environments.get(read?.environment ?? '');
  if (read === undefined || base === undefined) throw new Error('there is a read');
  const old = { ...read, ...base, process: 'new', freshness: 'stale' as const };
  const kindsOf = (reads: typeof history.reads) =>
    checkHistory({ ...history, reads, streams: [], eventStreams: [] }).map(({ kind }) => kind);
  expect(kindsOf([old])).not.toContain('went-back');
  expect(kindsOf([{ ...old, freshness: 'current' }])).toContain('went-back');
  // It had the write already.
  const before = {
    ...read,
    process: 'new',
    requestedAt: old.requestedAt - 2,
    answeredAt: old.requestedAt - 1,
  };
  expect(kindsOf([before, old])).toContain('went-back');
});

test('a read may show a state from before the record only while it says that it may be old', () => {
  const history = perfectHistory([{ kind: 'read', environment: 1, node: 0 }]);
  const read = history.reads.find(({ kind }) => kind === 'read');
  const base = history.environments.get(read?.environment ?? '');
  if (read === undefined || base === undefined) throw new Error('there is a read');
  const kindsOf = (revision: number, freshness: 'current' | 'stale') => {
    const reads = [{ ...read, process: 'new', revision, content: '{}', freshness }];
    return checkHistory({ ...history, reads, streams: [], eventStreams: [] }).map(({ kind }) => kind);
  };
  expect(kindsOf(base.revision - 1, 'stale')).toEqual([]);
  expect(kindsOf(base.revision - 1, 'current')).toContain('mix');
  expect(kindsOf(base.revision, 'stale')).toContain('mix');
});

/** A history of one write, with a stream whose second frame comes `ms` after it was due. */
function historyWithLateFrame(ms: number) {
  const write = { kind: 'write', environment: 0, node: 0, shape: 'counter', fate: 'acknowledged' } as const;
  const history = perfectHistory([write]);
  const stream = history.streams.find(({ frames }) => frames.length === 2);
  const [first, second] = stream?.frames ?? [];
  if (!stream || !first || !second) throw new Error('there is a stream with both frames');
  const late = { ...stream, frames: [first, { ...second, at: second.at + ms }] };
  return { history: { ...history, streams: [late], eventStreams: [] }, node: stream.node, dueAt: second.at };
}

test('a late frame is excused by the time in which its node got no processor, and by no other', () => {
  const { history, node: slow, dueAt } = historyWithLateFrame(12_000);
  const isStuck = (node: string, from: number, ms: number) =>
    checkHistory({
      ...history,
      endedAt: history.endedAt + 30_000,
      cpuWaits: [{ node, from, ms }],
    }).some(({ kind }) => kind === 'stuck');
  expect(isStuck(slow, dueAt + 1_000, 3_000)).toBe(false);
  expect(isStuck(slow, dueAt + 1_000, 1_000)).toBe(true);
  expect(isStuck(slow, dueAt - 4_000, 3_000)).toBe(true);
  expect(isStuck('another node', dueAt + 1_000, 3_000)).toBe(true);
});

test('a frame that was on its way when the log was lost may be read late only by readers without a processor', () => {
  const { history, node: lost, dueAt } = historyWithLateFrame(3_000);
  const isLate = (node: string, ms: number) =>
    checkHistory({
      ...history,
      losses: [{ node: lost, at: dueAt }],
      cpuWaits: [{ node, from: dueAt + 500, ms }],
    }).some(({ kind }) => kind === 'sent-after-loss');
  expect(isLate(READERS, 2_500)).toBe(false);
  expect(isLate(READERS, 1_000)).toBe(true);
  expect(isLate(lost, 2_500)).toBe(true);
});

describe('a planted fault is caught:', () => {
  for (const fault of [PLANTED_FAULTS, CLIENT_FAULTS].flat()) {
    test(fault.name, () => {
      let planted = 0;
      fc.assert(
        fc.property(answeredSteps, fc.nat({ max: 10_000 }), (steps, choice) => {
          const spoiled = fault.plant(perfectHistory(steps), choice);
          fc.pre(spoiled !== undefined);
          planted += 1;
          const kinds = new Set<string>(checkHistory(spoiled).map(({ kind }) => kind));
          expect(fault.caughtAs.some((kind) => kinds.has(kind))).toBe(true);
        }),
        { numRuns: 60, maxSkipsPerRun: 20 },
      );
      expect(planted).toBeGreaterThan(20);
    });
  }
});

test('a story names the stream, the revision and what came instead', () => {
  const history = perfectHistory(
    Array.from({ length: 3 }, () => ({
      kind: 'write',
      environment: 0,
      node: 0,
      shape: 'counter',
      fate: 'acknowledged',
    })),
  );
  const spoiled = PLANTED_FAULTS[0]?.plant(history, 1);
  const [violation] = spoiled === undefined ? [] : checkHistory(spoiled);
  expect(violation?.story).toMatch(
    /^Frame 1 of stream stream-3 .* should be revision 1 and is revision 2\.$/,
  );
});
