import { afterEach, describe, expect, test } from 'bun:test';
import { defined } from '@halyard/protocol';
import { until as eventually } from '@halyard/testing';
import type { LogRow, LogSession, LogSource } from '../domain/change-log.ts';
import { createLogger } from '../observability/logger.ts';
import { ReadPlane, type ReadPlaneSettings } from './read-plane.ts';

const KEY_DIGEST = 'd'.repeat(64);

/** A log in memory: the second source that a read plane can follow, beside a database. */
class MemoryLog implements LogSource {
  readonly #rows: LogRow[] = [];
  #wake: () => void = () => undefined;
  #lost: (cause: Error) => void = () => undefined;
  isAway = false;
  /** Snapshots can be loaded, and nothing more. */
  isAwayAfterLoading = false;
  /** Without wake-ups the log proves five times a second where it ends. */
  isPushed = true;
  /** How old each proof is when it comes, in milliseconds. */
  proofAgeMs = 0;
  /** No proof comes before it. */
  gate: Promise<void> | undefined;

  append(row: Pick<LogRow, 'kind'> & Partial<LogRow>): LogRow {
    const seq = this.#rows.length + 1;
    const full = { changeId: `c${seq}`, projectId: 'p', payload: '{}', actor: 'system', at: Date.now() };
    const appended = { ...full, ...row, seq };
    this.#rows.push(appended);
    this.#wake();
    return appended;
  }

  /** Makes the next revision of the environment, in which the counter is `value`. */
  count(value: number, state = `{"enabled":true,"value":${value}}`): LogRow {
    const revision = this.#rows.filter(({ kind }) => kind === 'flags.changed').length + 1;
    const payload = JSON.stringify([['counter', state]]);
    return this.append({ kind: 'flags.changed', environmentId: 'e', revision, payload });
  }

  lose(): void {
    this.isAway = true;
    this.#lost(new Error('the log is gone'));
  }

  async open(): Promise<LogSession> {
    if (this.isAway) throw new Error('the log is away');
    return {
      snapshot: async () => ({
        cursor: { epoch: 'memory', seq: 0, changeId: '' },
        projects: [{ id: 'p', name: 'demo' }],
        environments: [{ id: 'e', projectId: 'p', name: 'production', revision: 0 }],
        states: [],
        keys: [
          { id: 'k', projectId: 'p', digest: KEY_DIGEST, environments: '["production"]', expiresAt: null },
        ],
        relays: [],
      }),
      head: async (seq = 0) => {
        if (this.isAwayAfterLoading) throw new Error('the log went away');
        await this.gate;
        const provenAt = performance.now() - this.proofAgeMs;
        const changeId = seq === 0 ? '' : this.#rows[seq - 1]?.changeId;
        const end = { epoch: 'memory', seq: this.#rows.length, ...defined({ changeId }) };
        return { ...end, pushed: this.isPushed, provenAt };
      },
      read: async (after) => ({ rows: this.#rows.slice(after), isLast: true }),
      onWake: (callback) => {
        this.#wake = callback;
      },
      onLost: (callback) => {
        this.#lost = callback;
      },
      close: () => undefined,
    };
  }
}

const planes: ReadPlane[] = [];

afterEach(() => {
  for (const plane of planes.splice(0)) plane.close();
});

function newPlane(source: LogSource, settings: Partial<ReadPlaneSettings> = {}): ReadPlane {
  const log = createLogger({ level: 'silent', format: 'json' });
  const plane = new ReadPlane({ source, log, maxQueuedBytes: 1024 * 1024, ...settings });
  planes.push(plane);
  return plane;
}

/** A plane that starts to follow a log in memory. */
function start(source: LogSource): ReadPlane {
  const plane = newPlane(source);
  plane.start();
  return plane;
}

/** A plane that follows a log in memory, one stream of its environment, and what happens, in order. */
async function setUp(settings: Partial<ReadPlaneSettings> = {}, source = new MemoryLog()) {
  const heard: string[] = [];
  const waiting = new Map<string, () => void>();
  const hear = (event: string) => {
    heard.push(event);
    waiting.get(event)?.();
  };
  const until = (event: string) =>
    heard.includes(event)
      ? Promise.resolve()
      : new Promise<void>((resolve) => {
          waiting.set(event, resolve);
        });
  const plane = newPlane(source, settings);
  plane.observe({
    live: (seq) => hear(`live ${seq}`),
    lost: () => hear(`lost, ${plane.hub.size} streams open`),
    applied: ({ seq }) => hear(`applied ${seq}`),
    streamClosed: (cause) => hear(`closed: ${cause}`),
    malformed: ({ kind, id }) => hear(`malformed ${kind} ${id}`),
  });
  plane.observe({ applied: ({ seq }) => hear(`second observer: applied ${seq}`) });
  plane.start();
  expect(await plane.firstAttempt).toBe(true);
  const environment = plane.catalog.environment('p', 'production');
  if (environment === undefined) throw new Error('the environment was not loaded');
  const frames = plane.hub.open(environment, 'k').getReader();
  const next = async () => {
    const { value, done } = await frames.read();
    return done ? 'end' : new TextDecoder().decode(value);
  };
  expect(await next()).toBe('data: {}\n\n');
  return { source, plane, heard, until, next };
}

describe('the read plane', () => {
  test('reports the age of its answers while the log is lost, and answers without a limit', async () => {
    const { source, plane } = await setUp();
    expect(plane.freshness.staleSeconds()).toBeUndefined();
    source.lose();
    expect(plane.freshness.staleSeconds()).toBeGreaterThanOrEqual(1);
    expect(plane.freshness.canRead()).toBe(true);
  });

  test('may lack records while the log is lost, and not before', async () => {
    const { source, plane } = await setUp();
    expect(plane.freshness.mayLackRecords()).toBe(false);
    source.lose();
    expect(plane.freshness.mayLackRecords()).toBe(true);
  });

  test('is not current once no proof has come for three seconds, although its log is followed', async () => {
    const source = new MemoryLog();
    source.proofAgeMs = 900;
    const { plane, heard, until } = await setUp({}, source);
    const gate = Promise.withResolvers<void>();
    source.gate = gate.promise;
    await until('lost, 0 streams open');
    expect(heard).toEqual(['live 0', 'closed: listener', 'lost, 0 streams open']);
    expect([plane.follower.isLive, plane.freshness.canStream(), plane.freshness.canRead()]).toEqual([
      true,
      false,
      true,
    ]);
    expect(plane.freshness.staleSeconds()).toBeGreaterThanOrEqual(3);
    expect(plane.freshness.trouble()).toContain('seconds old: the way to its database or upstream');
    source.proofAgeMs = 0;
    gate.resolve();
    await eventually('it is current again', () => plane.freshness.canStream());
    expect(plane.freshness.staleSeconds()).toBeUndefined();
  });

  test('is never current where proofs come so late that the next one comes too late', async () => {
    const source = new MemoryLog();
    Object.assign(source, { proofAgeMs: 2900, isPushed: false });
    const plane = start(source);
    const heard: string[] = [];
    plane.observe({ live: () => heard.push('live'), lost: () => heard.push('lost') });
    let proofs = 0;
    plane.observe({ proven: () => proofs++ });
    // A node that starts listens once this is over.
    const attempted = plane.attempted(60_000).then(() => heard.push('attempted'));
    expect(await plane.firstAttempt).toBe(false);
    await eventually('some proofs have come', () => proofs > 3);
    expect([heard, plane.freshness.canStream()]).toEqual([[], false]);
    expect(plane.freshness.staleSeconds()).toBe(3);
    source.proofAgeMs = 1500;
    await eventually('proofs come in time', () => plane.freshness.canStream());
    await attempted;
    expect(heard).toEqual(['live', 'attempted']);
  });

  test('answers nothing before the first proof, because the age of what it has loaded is unknown', async () => {
    const source = new MemoryLog();
    source.isAwayAfterLoading = true;
    const plane = start(source);
    expect(await plane.firstAttempt).toBe(false);
    expect([plane.follower.hasSnapshot, plane.freshness.canRead()]).toEqual([true, false]);
    source.isAwayAfterLoading = false;
    await plane.firstLive;
    expect([plane.freshness.canRead(), plane.freshness.staleSeconds()]).toEqual([true, undefined]);
  });

  test('stops answering while the log is lost once it is too old', async () => {
    const { source, plane } = await setUp({ maxStaleSeconds: 0.2 });
    await Bun.sleep(300);
    expect(plane.freshness.canRead()).toBe(true);
    source.lose();
    await eventually('reads are refused', () => !plane.freshness.canRead());
  });

  test('opens no streams and asks for no reads while it drains, and answers them', async () => {
    const { plane } = await setUp();
    expect(plane.freshness.takesReads()).toBe(true);
    await plane.drain(0);
    expect([plane.freshness.canStream(), plane.freshness.takesReads()]).toEqual([false, false]);
    expect(plane.freshness.canRead()).toBe(true);
  });

  test('sends each row of the log as one frame, in order, and then calls its observers', async () => {
    const { source, heard, until, next } = await setUp();
    for (const n of [1, 2, 3]) source.count(n);
    await until('second observer: applied 3');
    for (const n of [1, 2, 3]) {
      expect(await next()).toBe(`data: {"counter":{"enabled":true,"value":${n}}}\n\n`);
    }
    expect(heard).toEqual([
      'live 0',
      ...[1, 2, 3].flatMap((seq) => [`applied ${seq}`, `second observer: applied ${seq}`]),
    ]);
  });

  test('closes every stream before it calls an observer about a lost log', async () => {
    const { source, plane, heard, next } = await setUp();
    source.lose();
    expect(heard).toEqual(['live 0', 'closed: listener', 'lost, 0 streams open']);
    expect(await next()).toBe('end');
    expect(plane.freshness.canStream()).toBe(false);
    expect([plane.freshness.canRead(), plane.freshness.takesReads()]).toEqual([true, true]);
  });

  test('ends the streams of a key in the turn in which its revocation is applied', async () => {
    const { source, heard, until, next } = await setUp();
    source.append({ kind: 'key.revoked', payload: JSON.stringify({ id: 'k', digest: KEY_DIGEST }) });
    await until('applied 1');
    expect(heard).toEqual(['live 0', 'closed: key', 'applied 1', 'second observer: applied 1']);
    expect(await next()).toBe('end');
  });

  test('reports a damaged record and serves the rest', async () => {
    const { source, heard, until, next } = await setUp();
    source.count(1, '{"enabled":"perhaps"}');
    await until('applied 1');
    expect(heard).toContain('malformed flag e/counter');
    expect(await next()).toBe('data: {}\n\n');
  });

  test('reports a failed first attempt to follow the log, and follows it once it is reachable', async () => {
    const source = new MemoryLog();
    source.isAway = true;
    const log = createLogger({ level: 'silent', format: 'json' });
    const plane = new ReadPlane({ source, log, maxQueuedBytes: 1024 });
    planes.push(plane);
    plane.start();
    expect(await plane.firstAttempt).toBe(false);
    expect([plane.freshness.canRead(), plane.freshness.takesReads()]).toEqual([false, false]);
    source.isAway = false;
    await plane.firstLive;
    expect(plane.freshness.canStream()).toBe(true);
  });
});
