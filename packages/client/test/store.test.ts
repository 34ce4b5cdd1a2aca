import { afterEach, describe, expect, jest, spyOn, test } from 'bun:test';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@halyard/testing';
import { fileStorage, keepFlags, storedFlags } from '../src/store.ts';
import { createTestClient } from '../src/testing.ts';
import { harness } from './support/harness.ts';
import { refuse } from './support/scripted-server.ts';

afterEach(() => {
  jest.useRealTimers();
});

const FLAGS = { a: { enabled: true, value: 'größer 🚀' }, b: { enabled: true, rolloutPct: 5 } };

/** A storage in memory, as `localStorage` is. */
function memory() {
  const texts = new Map<string, string>();
  return {
    texts,
    getItem: (name: string) => texts.get(name) ?? null,
    setItem: (name: string, text: string) => texts.set(name, text),
  };
}

function kept(flags = FLAGS) {
  const storage = memory();
  const client = createTestClient({ environment: 'production', flags });
  const stop = keepFlags(client, storage);
  return { storage, client, stop };
}

describe('what was kept', () => {
  test('starts the next client while the service is away, until it answers', async () => {
    const { storage } = kept();
    const stored = storedFlags(storage, 'production');
    expect(stored?.ageMs).toBeGreaterThanOrEqual(0);
    const { client, server, platform } = harness({ bootstrap: stored?.bootstrap as never });
    server.fail();
    void client.ready();
    await platform.advance(1_500);
    expect(client.status).toBe('stale');
    expect(client.getValue('a', '')).toBe('größer 🚀');
    expect(client.isEnabled('b', { targetingKey: 'ana' })).toBe(false);
    server.heal();
    server.revision = 3;
    server.flags = { a: { enabled: false } };
    await platform.advance(60_000);
    expect([client.status, client.revision, client.isEnabled('a')]).toEqual(['ready', 3, false]);
  });

  test('says its age, and is nothing once it is too old', () => {
    jest.useFakeTimers();
    const { storage } = kept();
    jest.setSystemTime(Date.now() + 5_000);
    expect(storedFlags(storage, 'production')?.ageMs).toBe(5_000);
    expect(storedFlags(storage, 'production', { maxAgeMs: 5_000 })).toBeDefined();
    expect(storedFlags(storage, 'production', { maxAgeMs: 4_999 })).toBeUndefined();
    jest.setSystemTime(0); // a clock that was set back
    expect(storedFlags(storage, 'production')?.ageMs).toBe(0);
  });

  test('is of one environment', () => {
    const { storage } = kept();
    expect(storedFlags(storage, 'staging')).toBeUndefined();
    const [text = ''] = storage.texts.values();
    expect(storedFlags({ getItem: () => text, setItem: () => {} }, 'staging')).toBeUndefined();
  });

  test.each([
    ['empty', () => ''],
    ['of another version', (text: string) => text.replace('halyard/1', 'halyard/2')],
    ['cut', (text: string) => text.slice(0, -1)],
    ['changed', (text: string) => text.replace('true', 'null')],
    ['of something else', () => '{"flags":{}}'],
    ['endless', (text: string) => text + ' '.repeat(5_000_000)],
  ])('is nothing when its text is %s', (_, damage) => {
    const { storage } = kept();
    const [text = ''] = storage.texts.values();
    expect(storedFlags({ ...storage, getItem: () => damage(text) }, 'production')).toBeUndefined();
  });

  test('is nothing in a storage that throws', () => {
    expect(storedFlags({ getItem: refuse, setItem: refuse }, 'production')).toBeUndefined();
    expect(storedFlags(refuse, 'production')).toBeUndefined();
    expect(storedFlags(undefined as never, 'production')).toBeUndefined();
    expect(storedFlags(memory(), 'production', null as never)).toBeUndefined();
    expect(storedFlags(kept().storage, 'production', null as never)).toBeDefined();
  });
});

describe('keepFlags', () => {
  test('keeps the newest map a second after a change, once for many', () => {
    jest.useFakeTimers();
    const { storage, client, stop } = kept();
    const first = [...storage.texts.values()];
    let writes = 0;
    const { setItem } = storage;
    storage.setItem = (name, text) => {
      writes++;
      return setItem(name, text);
    };
    for (let i = 0; i < 100; i++) client.set('a', { enabled: true, value: i });
    jest.advanceTimersByTime(999);
    expect([...storage.texts.values()]).toEqual(first);
    jest.advanceTimersByTime(1);
    expect(writes).toBe(1);
    expect(storedFlags(storage, 'production')?.bootstrap).toMatchObject({
      flags: { a: { enabled: true, value: 99 } },
    });
    client.set('a', false);
    stop();
    expect(writes).toBe(2);
    client.set('a', true);
    jest.advanceTimersByTime(3_600_000);
    expect(writes).toBe(2);
  });

  test('flags that stay current for days are as old as the moment at which they stopped to be', () => {
    jest.useFakeTimers();
    for (const end of ['goStale', 'close', 'stop'] as const) {
      const { storage, client, stop } = kept();
      const day = 24 * 60 * 60_000;
      jest.advanceTimersByTime(3 * day);
      expect(storedFlags(storage, 'production')?.ageMs).toBeLessThan(6 * 60_000); // should the process be killed now
      end === 'stop' ? stop() : void client[end]();
      expect(storedFlags(storage, 'production')?.ageMs).toBe(0);
      jest.advanceTimersByTime(day);
      expect(storedFlags(storage, 'production')?.ageMs).toBe(day);
    }
    expect(jest.getTimerCount()).toBe(0);
  });

  test('a short program keeps its flags: the first map at once', async () => {
    const { client, server } = harness({ mode: 'manual' });
    const storage = memory();
    let writes = 0;
    keepFlags(client, { ...storage, setItem: (...item) => storage.setItem(...item) && writes++ });
    await client.ready();
    expect(storedFlags(storage, 'production')?.bootstrap).toMatchObject({ flags: server.flags as never });
    await client.close();
    expect(writes).toBe(1);
  });

  test.each(['goStale', 'close'] as const)('a change that is followed by %s at once is kept', (end) => {
    const { storage, client } = kept();
    client.set('a', { enabled: true, value: 'newest' });
    void client[end]();
    expect(storedFlags(storage, 'production')?.bootstrap).toMatchObject({
      flags: { a: { enabled: true, value: 'newest' } },
    });
  });

  test('what changes while the flags are not current is not kept', () => {
    jest.useFakeTimers();
    const { storage, client } = kept();
    client.goStale();
    client.set('a', { enabled: true, value: 'doubtful' });
    void client.close();
    jest.advanceTimersByTime(3_600_000);
    expect([...storage.texts.values()].join()).not.toContain('doubtful');
  });

  test('says once on the console that flags cannot be kept, where nothing else is named', () => {
    const warn = spyOn(console, 'warn').mockImplementation(() => {});
    try {
      const client = createTestClient({ environment: 'production', flags: FLAGS });
      const stop = keepFlags(client, { getItem: refuse, setItem: refuse });
      client.set('a', false);
      stop();
      expect(warn.mock.calls.map(([line]) => line)).toEqual(['[halyard] flags cannot be kept']);
    } finally {
      warn.mockRestore();
    }
  });

  test('keeps nothing that is not current', () => {
    jest.useFakeTimers();
    const storage = memory();
    const client = createTestClient({ environment: 'production', flags: FLAGS });
    client.goStale();
    keepFlags(client, storage);
    expect(storage.texts.size).toBe(0);
    client.recover();
    jest.advanceTimersByTime(1_000);
    expect(storage.texts.size).toBe(1);
  });

  test('tells of what it cannot keep, and never throws', () => {
    const thrown: string[] = [];
    const tell = (each: unknown) => thrown.push((each as Error).message);
    const client = createTestClient({ environment: 'production', flags: FLAGS });
    keepFlags(client, { getItem: refuse, setItem: refuse }, tell);
    keepFlags(client, refuse, refuse);
    const large = createTestClient({ flags: { a: { enabled: true, value: 'x'.repeat(4_200_000) } } });
    const storage = memory();
    keepFlags(large, storage, tell);
    expect(thrown).toEqual(['connection refused', expect.stringContaining('characters')]);
    expect(storage.texts.size).toBe(0);
  });
});

test('a file holds the flags whole, and nothing else is left beside it', () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'flags.txt');
  const client = createTestClient({ environment: 'production', flags: FLAGS });
  expect(storedFlags(fileStorage(path), 'production')).toBeUndefined();
  keepFlags(client, fileStorage(path))();
  keepFlags(client, fileStorage(path))();
  expect(storedFlags(fileStorage(path), 'production')?.bootstrap).toEqual(client.toBootstrap() as never);
  expect(readdirSync(folder.path)).toEqual(['flags.txt']);
  // Values may be secret: the user of this process alone reads them.
  expect(statSync(path).mode & 0o777).toBe(0o600);
  writeFileSync(path, 'halyard/1 nonsense');
  expect(storedFlags(fileStorage(path), 'production')).toBeUndefined();
  const errors: unknown[] = [];
  keepFlags(client, fileStorage(join(folder.path, 'none/flags.txt')), (thrown) => errors.push(thrown))();
  expect(errors).toHaveLength(1);
});
