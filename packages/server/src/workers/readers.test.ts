import { beforeEach, expect, test } from 'bun:test';
import type { LogRow } from '../domain/change-log.ts';
import type { DeliveryProgress } from '../domain/delivery.ts';
import { Readers } from './readers.ts';

const heard: string[] = [];
let readers: Readers;

const NO_STREAMS = { size: 0, turnover: 0, streamsByKey: () => new Map<string, Map<string, number>>() };
const noKeys = async () => [];

beforeEach(() => {
  heard.length = 0;
  readers = new Readers({
    streams: NO_STREAMS,
    waitForApplied: async () => {},
    hasApplied: () => true,
    takeUsedKeys: async () => ['own'],
  });
  readers.observe({
    live: (seq) => heard.push(`live ${seq}`),
    lost: () => heard.push('lost'),
    applied: ({ seq }) => heard.push(`applied ${seq}`),
    progressed: ({ seq, streams, seen, closed, isSettled }) =>
      heard.push(`${seq}: ${seen} of ${streams}, ${closed} closed${isSettled ? ', settled' : ''}`),
  });
  readers.own.live?.(0);
  readers.join(1, 0, async () => ['a', 'b']);
  readers.join(2, 0, async () => ['b', 'c']);
});

function row(seq: number): LogRow {
  const facts = {
    seq,
    changeId: String(seq),
    kind: 'flags.changed',
    projectId: 'p',
    environmentId: 'e',
  } as const;
  return { ...facts, revision: seq, payload: '[]', actor: '', at: 0 };
}

function progress(seq: number, streams: number, seen: number, isSettled: boolean): DeliveryProgress {
  return { seq, environmentId: 'e', streams, seen, closed: 0, slowestMs: 1, isSettled };
}

test('a row counts as applied when every process has applied it, in order', () => {
  readers.own.applied?.(row(1));
  readers.own.applied?.(row(2));
  readers.report(1, { applied: 2 });
  expect(heard).toEqual(['live 0']);
  readers.report(2, { applied: 1 });
  expect(heard).toEqual(['live 0', 'applied 1']);
  readers.report(2, { applied: 2 });
  expect(heard).toEqual(['live 0', 'applied 1', 'applied 2']);
});

test('a delivery is the sum of all processes, and is settled when each has settled it', () => {
  readers.report(1, { applied: 1, progress: [progress(1, 3, 0, false)] });
  readers.report(1, { progress: [progress(1, 3, 3, true)] });
  readers.own.applied?.(row(1));
  readers.report(2, { applied: 1, progress: [progress(1, 2, 0, false)] });
  readers.report(2, { progress: [progress(1, 2, 2, true)] });
  expect(heard).toEqual(['live 0', 'applied 1', '1: 3 of 5, 0 closed', '1: 5 of 5, 0 closed, settled']);
});

test('the streams of a worker that ends have not seen what they had not taken', () => {
  readers.own.applied?.(row(1));
  readers.report(2, { applied: 1 });
  readers.report(1, { applied: 1, progress: [progress(1, 4, 1, false)] });
  readers.leave(1);
  expect(heard.at(-1)).toBe('1: 1 of 4, 3 closed, settled');
});

test('a write waits for every worker, and no longer for one that ends', async () => {
  let isDone = false;
  const waiting = readers.waitForApplied(1).then(() => {
    isDone = true;
  });
  readers.report(1, { applied: 1 });
  await Bun.sleep(0);
  expect(isDone).toBe(false);
  readers.leave(2);
  await waiting;
});

test('streams and used keys are those of all processes, also of one that has ended', async () => {
  readers.report(1, { streams: [['e', [['k', 2]]]] });
  readers.report(2, {
    streams: [
      ['e', [['k', 1]]],
      ['f', [['l', 4]]],
    ],
  });
  expect(readers.streams.size).toBe(7);
  expect(Object.fromEntries(readers.streams.streamsByKey().get('e') ?? [])).toEqual({ k: 3 });
  expect(readers.streamsOf(2)).toEqual([
    ['k', 1],
    ['l', 4],
  ]);
  const { turnover } = readers.streams;
  readers.leave(2, ['z']);
  expect(readers.streams.turnover).toBeGreaterThan(turnover);
  expect(readers.streams.size).toBe(2);
  expect([...(await readers.takeUsedKeys())].sort()).toEqual(['a', 'b', 'own', 'z']);
  expect([...(await readers.takeUsedKeys())].sort()).toEqual(['a', 'b', 'own']);
});

test('a lost log forgets what was on its way', () => {
  readers.own.applied?.(row(1));
  readers.own.lost?.();
  readers.join(3, 1, noKeys);
  readers.own.live?.(5);
  for (const worker of [1, 2, 3]) readers.report(worker, { applied: 5 });
  expect(heard).toEqual(['live 0', 'lost', 'live 5']);
});
