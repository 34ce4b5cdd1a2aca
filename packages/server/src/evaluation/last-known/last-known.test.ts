import { afterEach, describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open as openFile } from 'node:fs/promises';
import { temporaryFolder, until } from '@halyard/testing';
import pino from 'pino';
import type { LogSource } from '../../domain/change-log.ts';
import { insertKey, storeKeyRevocation } from '../../nouns/keys/key-table.ts';
import { logSourceOf } from '../../storage/change-log.ts';
import { ENGINES, openTestStore } from '../../storage/test-engines.ts';
import { ADA, changing, makeKey, seed } from '../../storage/test-records.ts';
import { ReadPlane } from '../read-plane.ts';
import { HEADER_BYTES, LastKnownError, lastKnownPlace, readLastKnown } from './last-known-file.ts';
import { LastKnownWriter, type LastKnownWriterOptions } from './last-known-writer.ts';

setDefaultTimeout(60_000);

const ON = '{"enabled":true}';
const LOG = pino({ level: 'silent' });
const [SQLITE] = ENGINES;

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** A plane that follows a database and keeps its last known flags, which are a flag and two keys, one revoked. */
async function setUp(options: Partial<LastKnownWriterOptions> = {}) {
  if (SQLITE === undefined) throw new Error('no engine');
  const home = await openTestStore(SQLITE);
  open.push(() => home[Symbol.asyncDispose]());
  const folder = temporaryFolder();
  open.push(() => folder.remove());
  const { project, environment } = await seed(home.store);
  const [live, revoked] = [makeKey(project, 'live'), makeKey(project, 'revoked')];
  await home.store.commit(ADA, async (transaction) => {
    await insertKey(transaction, live, 'a'.repeat(64));
    await insertKey(transaction, revoked, 'b'.repeat(64));
  });
  await home.store.commit(ADA, changing(environment, ['checkout', ON]));
  const plane = new ReadPlane({ source: logSourceOf(home.database), log: LOG, maxQueuedBytes: 1024 });
  const place = lastKnownPlace(folder.file('data'), 'postgres://db/halyard');
  const writer = new LastKnownWriter({ place, plane, log: LOG, ...options });
  plane.observe(writer);
  open.push(() => plane.close());
  plane.start();
  await plane.firstLive;
  const { seq = 0 } = await home.store.commit(ADA, (transaction) =>
    storeKeyRevocation(transaction, revoked, 1),
  );
  await plane.follower.waitForApplied(seq);
  return { home, plane, place, writer, environment, live, seq };
}

describe('the last known flags', () => {
  test('are what the node served last: digests of keys only, and none that was revoked', async () => {
    const { place, writer, environment, seq } = await setUp();
    await writer.close();
    expect(statSync(place.path).mode & 0o777).toBe(0o600);
    const found = await readLastKnown(place, Date.now());
    expect(found?.snapshot.cursor.seq).toBe(seq);
    expect(found?.snapshot.states).toEqual([
      { environmentId: environment.id, flagKey: 'checkout', state: ON },
    ]);
    expect(found?.snapshot.keys.map(({ digest }) => digest)).toEqual(['a'.repeat(64)]);
    expect(Date.now() - (found?.provenAt ?? 0)).toBeLessThan(60_000);
  });

  test('are saved soon after a key is revoked, without a stop', async () => {
    const { place, seq } = await setUp();
    await until('the revocation is saved', async () => {
      const found = await readLastKnown(place, Date.now());
      return found?.snapshot.cursor.seq === seq;
    });
  });

  test('are saved at once when a key is revoked, however long the pause for flags is', async () => {
    const { home, place, plane, environment, live } = await setUp({ pauseFactor: 10_000_000 });
    const savedSeq = async () => (await readLastKnown(place, Date.now()))?.snapshot.cursor.seq;
    await until('they are saved', async () => (await savedSeq()) !== undefined);
    await home.store.commit(ADA, changing(environment, ['checkout', '{"enabled":false}']));
    const { seq = 0 } = await home.store.commit(ADA, (transaction) =>
      storeKeyRevocation(transaction, live, 1),
    );
    await plane.follower.waitForApplied(seq);
    await until('the revocation is saved', async () => (await savedSeq()) === seq);
  });

  test('are gone after a failure to save a revocation, and saved later, although nothing else changes', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => lines.push(line) });
    const { home, place, plane, live } = await setUp({ retryMs: 50, log });
    const isSaved = async (seq: number) => {
      const found = await readLastKnown(place, Date.now());
      return found?.snapshot.cursor.seq === seq;
    };
    await until('they are saved', () => isSaved(plane.follower.seq));
    const obstacle = `${place.path}.${process.pid}.tmp`;
    mkdirSync(obstacle);
    const { seq = 0 } = await home.store.commit(ADA, (transaction) =>
      storeKeyRevocation(transaction, live, 1),
    );
    await plane.follower.waitForApplied(seq);
    await until('it has failed', () => lines.length === 1);
    // The file that is there would still open what was revoked.
    expect(existsSync(place.path)).toBe(false);
    rmdirSync(obstacle);
    await until('the revocation is saved', () => isSaved(seq));
  });

  test('are named in an error where neither they can be saved nor a file with a revoked key be removed', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'error' }, { write: (line) => lines.push(line) });
    const { home, place, plane, live } = await setUp({ log });
    await until('they are saved', () => existsSync(place.path));
    // Nothing can be renamed to a folder, and no folder removed as a file.
    rmSync(place.path);
    mkdirSync(place.path);
    const { seq = 0 } = await home.store.commit(ADA, (transaction) =>
      storeKeyRevocation(transaction, live, 1),
    );
    await plane.follower.waitForApplied(seq);
    await until('the log names the file', () => lines.some((line) => line.includes('cannot be removed')));
    expect(lines.join()).toContain(JSON.stringify(place.path));
  });

  test('outlast a loss of power: they are on the disk before they take their place, and their name after it', async () => {
    const { home, place, writer, plane, environment } = await setUp();
    await until('they are saved', () => existsSync(place.path));
    const handle = await openFile(place.path);
    const calls: string[] = [];
    // The class is not exported, and every handle has its methods from it.
    const methods = Object.getPrototypeOf(handle) as FileHandle;
    const savedSeq = async () => (await readLastKnown(place, Date.now()))?.snapshot.cursor.seq;
    const sync = spyOn(methods, 'sync').mockImplementation(async function (this: FileHandle) {
      const facts = await this.stat();
      calls.push(`${facts.isDirectory() ? 'names' : facts.size > HEADER_BYTES} ${await savedSeq()}`);
    });
    try {
      const before = await savedSeq();
      const off = changing(environment, ['checkout', '{"enabled":false}']);
      const { seq = 0 } = await home.store.commit(ADA, off);
      await plane.follower.waitForApplied(seq);
      await writer.close();
      expect([await savedSeq(), calls]).toEqual([seq, [`true ${before}`, `names ${seq}`]]);
    } finally {
      sync.mockRestore();
      await handle.close();
    }
  });

  test('are not replaced before a first proof says how old the new ones are', async () => {
    const { home, place, writer, seq } = await setUp();
    await writer.close();
    const proof = Promise.withResolvers<void>();
    const source: LogSource = {
      open: async (...place) => {
        const session = await logSourceOf(home.database).open(...place);
        return {
          snapshot: () => session.snapshot(),
          head: async (after) => {
            if (plane.follower.hasSnapshot) await proof.promise;
            return session.head(after);
          },
          read: (after) => session.read(after),
          onWake: (callback) => session.onWake(callback),
          onLost: (callback) => session.onLost(callback),
          close: () => session.close(),
        };
      },
    };

    const plane = new ReadPlane({ source, log: LOG, maxQueuedBytes: 1024 });
    open.push(() => plane.close());
    const next = new LastKnownWriter({ place, plane, log: LOG });
    plane.observe(next);
    plane.start();
    await until('the snapshot is loaded', () => plane.follower.hasSnapshot);
    await next.close();
    proof.resolve();
    expect((await readLastKnown(place, Date.now()))?.snapshot.cursor.seq).toBe(seq);
  });

  test('leave nothing of a process that was killed while it wrote', async () => {
    const folder = temporaryFolder();
    open.push(() => folder.remove());
    const place = lastKnownPlace(folder.path, 'postgres://db/halyard');
    for (const name of ['last-known-flags.123.tmp', 'last-known-flags.9.tmp', 'other.tmp'])
      writeFileSync(folder.file(name), 'x');
    const { writer } = await setUp({ place });
    await writer.close();
    expect(readdirSync(folder.path).sort()).toEqual(['last-known-flags', 'other.tmp']);
  });

  test('let a plane answer while its log is away, with their age, and continue without a gap', async () => {
    const { home, place, writer, plane, environment, seq } = await setUp();
    await writer.close();
    plane.close();
    const found = await readLastKnown(place, Date.now());
    if (found === undefined) throw new Error('nothing was saved');
    const database = logSourceOf(home.database);
    const source = { isAway: true };
    const rows: number[] = [];
    const second = new ReadPlane({
      source: {
        open: (from) => (source.isAway ? Promise.reject(new Error('away')) : database.open(from)),
      },
      log: LOG,
      maxQueuedBytes: 1024,
    });
    open.push(() => second.close());
    second.observe({ applied: (row) => rows.push(row.seq) });
    second.start({ ...found, provenAt: Date.now() - 90_000, continues: true });
    expect(await second.firstAttempt).toBe(false);
    expect([second.freshness.canRead(), second.freshness.canStream()]).toEqual([true, false]);
    expect(second.freshness.staleSeconds()).toBeGreaterThanOrEqual(90);
    await home.store.commit(ADA, changing(environment, ['checkout', '{"enabled":false}']));
    source.isAway = false;
    await second.firstLive;
    expect(rows).toEqual([seq + 1]);
    expect(second.freshness.staleSeconds()).toBeUndefined();
  });

  test('are refused once they are older than the node may answer from', async () => {
    const { place, writer } = await setUp();
    await writer.close();
    const found = await readLastKnown(place, Date.now());
    if (found === undefined) throw new Error('nothing was saved');
    const source = { open: () => Promise.reject(new Error('away')) };
    const plane = new ReadPlane({ source, log: LOG, maxQueuedBytes: 1024, maxStaleSeconds: 60 });
    open.push(() => plane.close());
    plane.start({ ...found, provenAt: Date.now() - 61_000, continues: true });
    expect(plane.freshness.canRead()).toBe(false);
  });
});

describe('a file of last known flags', () => {
  test.each<[string, (bytes: Buffer) => Buffer, RegExp]>([
    ['cut short', (bytes) => bytes.subarray(0, -1), /damaged/],
    ['cut in its header', (bytes) => bytes.subarray(0, 100), /damaged/],
    ['empty', () => Buffer.alloc(0), /damaged/],
    ['with one bit changed', (bytes) => flip(bytes, HEADER_BYTES + 20), /damaged/],
    ['with one bit of its time changed', (bytes) => flip(bytes, 9), /damaged/],
    ['with one bit of its record changed', (bytes) => flip(bytes, bytes.indexOf('savedAt') + 15), /damaged/],
    ['of another program', () => Buffer.from('1790000000000\n{"format":"other"}\n'), /not of Halyard/],
    ['of a newer version', (bytes) => edit(bytes, '"version":1', '"version":2'), /has version 2/],
  ])('%s is ignored with a reason', async (_, change, reason) => {
    const { place, writer } = await setUp();
    await writer.close();
    writeFileSync(place.path, change(readFileSync(place.path)));
    const error = await readLastKnown(place, Date.now()).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(LastKnownError);
    expect((error as LastKnownError).message).toMatch(reason);
  });

  test('of another source is ignored, and no file is no error', async () => {
    const { place, writer } = await setUp();
    await writer.close();
    const foreign = { ...place, origins: ['other'] };
    await expect(readLastKnown(foreign, Date.now())).rejects.toThrow('another source');
    const absent = { ...place, path: `${place.path}.absent` };
    expect(await readLastKnown(absent, Date.now())).toBeUndefined();
  });

  test('of an earlier version, with a proof from the future, is as old as its contents', async () => {
    const { place, writer } = await setUp();
    await writer.close();
    const bytes = readFileSync(place.path);
    const before = await readLastKnown(place, Date.now());
    const [, record] = bytes.toString('latin1').split('\n');
    bytes.write(`9999999999999\n${record}\n`.padEnd(HEADER_BYTES), 0, 'latin1');
    writeFileSync(place.path, bytes);
    const found = await readLastKnown(place, Date.now());
    expect(found?.provenAt).toBeLessThanOrEqual(before?.provenAt ?? 0);
  });
});

function flip(bytes: Buffer, at: number): Buffer {
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes;
}

function edit(bytes: Buffer, from: string, to: string): Buffer {
  return Buffer.from(bytes.toString('latin1').replace(from, to), 'latin1');
}
