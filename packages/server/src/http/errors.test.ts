import { expect, test } from 'bun:test';
import { startPostgres } from '@halyard/testing';
import pino from 'pino';
import { StoreBusy, StoreOutage, UnwritableDatabaseError } from '../domain/errors.ts';
import { readProjects } from '../nouns/projects/project-table.ts';
import { openPostgres } from '../storage/engines/postgres.ts';
import { migrate } from '../storage/schema.ts';
import { SqlStore } from '../storage/store.ts';
import { errorResponse, logOutage } from './errors.ts';

/** A log whose lines can be read. */
function captured() {
  const lines: Record<string, unknown>[] = [];
  const options = { level: 'debug', formatters: { level: (level: string) => ({ level }) } };
  const log = pino(options, { write: (line: string) => lines.push(JSON.parse(line)) });
  return { log, lines };
}

test('a bug is logged as an error with its stack', async () => {
  const { log, lines } = captured();
  const bug = new TypeError('undefined is not a function');
  const answer = errorResponse(bug, { docsUrl: 'https://docs.example.com', requestId: 'r1', log });
  expect(answer.status).toBe(500);
  expect(answer.headers.get('Retry-After')).toBeNull();
  expect(lines).toMatchObject([{ level: 'error', requestId: 'r1', err: { stack: expect.any(String) } }]);
});

test('a request that gave up waiting for another writer may be retried, and is logged as a warning without a stack', async () => {
  const { log, lines } = captured();
  const context = { docsUrl: 'https://docs.example.com', requestId: 'r3', log };
  const answer = errorResponse(new StoreBusy('held'), context);
  expect([answer.status, answer.headers.get('Retry-After')]).toEqual([500, '1']);
  expect(await answer.json()).toMatchObject({ message: expect.stringContaining('Try again shortly') });
  expect(lines).toEqual([expect.objectContaining({ level: 'warn', requestId: 'r3', reason: 'held' })]);
  expect(lines[0]).not.toHaveProperty('err');
});

test('a change that a full disk refuses says so, and that nothing was revoked', async () => {
  const { log, lines } = captured();
  const context = { docsUrl: 'https://docs.example.com', requestId: 'r4', log };
  const answer = errorResponse(new UnwritableDatabaseError('its disk is full'), context);
  expect([answer.status, answer.headers.get('Retry-After')]).toEqual([500, '10']);
  const { message } = (await answer.json()) as { message: string };
  expect(message).toContain('The database takes no changes: its disk is full. Nothing was changed');
  expect(message).toContain('what was to be revoked or removed still works');
  expect(lines).toMatchObject([{ level: 'warn', msg: 'request failed: the database takes no changes' }]);
});

test('requests that fail because PostgreSQL is stopped are logged as one warning without a stack', async () => {
  const { log, lines } = captured();
  await using postgres = await startPostgres({ flush: 'none' });
  const database = await openPostgres({ url: await postgres.createDatabase() });
  await migrate(database);
  const store = new SqlStore(database);
  const answers: Response[] = [];
  const fail = async () => {
    const error = await store.read((reader) => readProjects(reader)).catch((cause: unknown) => cause);
    answers.push(errorResponse(error, { docsUrl: 'https://docs.example.com', requestId: 'r2', log }));
  };
  expect(await store.read((reader) => readProjects(reader))).toEqual([]);
  // In the middle of a read, then before one.
  const interrupted = store.read(async (reader) => {
    await postgres.stop('immediate');
    return readProjects(reader);
  });
  await expect(interrupted).rejects.toThrow(StoreOutage);
  for (let request = 0; request < 5; request++) await fail();
  await database.close();
  for (const answer of answers) {
    expect(answer.status).toBe(500);
    expect(answer.headers.get('Retry-After')).toBe('1');
    const message = expect.stringMatching(/^The database is unreachable/);
    expect(await answer.json()).toMatchObject({ error: 'internal_error', message });
  }
  expect(lines).toMatchObject([{ level: 'warn', requestId: 'r2', reason: expect.any(String), requests: 1 }]);
  expect(lines[0]).not.toHaveProperty('err');
}, 120_000);

test('a long outage is logged every ten seconds, with the number of requests that failed', () => {
  const { log, lines } = captured();
  const outage = new StoreOutage('refused');
  for (const now of [0, 1, 9_999, 10_000, 10_001, 30_000]) logOutage(log, { outage, requestId: 'r', now });
  expect(lines.map(({ requests }) => requests)).toEqual([1, 3, 2]);
});
