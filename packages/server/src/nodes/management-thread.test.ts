import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { sharedPostgres, temporaryFolder, within } from '@halyard/testing';
import {
  ReadOnlyDatabaseError,
  ServiceError,
  StorageError,
  StoreBusy,
  StoreOutage,
} from '../domain/errors.ts';
import { UNLIMITED } from '../domain/rights.ts';
import type { HeavyCall } from '../management/api/heavy-call.ts';
import {
  insertAccessToken,
  readTokenByDigest,
  storeRevocation,
} from '../nouns/access-tokens/access-token-table.ts';
import { insertFlags } from '../nouns/flags/flag-table.ts';
import { readProject } from '../nouns/projects/project-table.ts';
import { changeStates } from '../nouns/states/change-states.ts';
import type { OpenDatabase } from '../storage/database.ts';
import { openDatabase } from '../storage/schema.ts';
import { SqlStore } from '../storage/store.ts';
import { ADA, changing, makeFlag, makeToken, seed } from '../storage/test-records.ts';
import { ManagementThread, type ManagementThreadParts } from './management-thread.ts';
import { errorMessage, errorOf } from './thread-messages.ts';

setDefaultTimeout(60_000);

const URLS = { sqlite: async () => ({}), postgres: async () => ({ databaseUrl: await newDatabase() }) };
const LIST = get('/api/projects/demo/environments/production/flags');
const EMPTY_PROJECT = '{"halyard":1,"project":"a","environments":[],"flags":{}}';
/** An answer of some pieces. */
const LONG = 'x'.repeat(200_000);

async function newDatabase(): Promise<string> {
  return (await sharedPostgres()).createDatabase();
}

describe.each(['sqlite', 'postgres'] as const)('the management thread on %s', (engine) => {
  const folder = temporaryFolder();
  const applied: number[] = [];
  const node: { refusal?: Error | undefined; failure?: Error | undefined } = {};
  let database: OpenDatabase;
  let store: SqlStore;
  let parts: ManagementThreadParts;
  let thread: ManagementThread;
  let environment: Awaited<ReturnType<typeof seed>>['environment'];

  beforeAll(async () => {
    const settings = { data: folder.path, ...(await URLS[engine]()) };
    database = await openDatabase({ ...settings, databasePoolSize: 2 });
    store = new SqlStore(database);
    const { project, environment: made } = await seed(store);
    environment = made;
    await store.commit(ADA, async (transaction) => {
      await insertFlags(
        transaction,
        Array.from({ length: 3 }, (_, index) => makeFlag(project, `long-${index}`)),
      );
      const state = JSON.stringify({ enabled: true, value: LONG });
      const changes = Array.from({ length: 3 }, (_, index) => [`long-${index}`, state] as const);
      await changeStates(transaction, environment, changes);
    });
    parts = {
      settings,
      isSmall: () => false,
      assertWritable: () => {
        if (node.refusal !== undefined) throw node.refusal;
      },
      waitForApplied: async (seq) => {
        if (node.failure !== undefined) throw node.failure;
        applied.push(seq);
      },
      yieldTo: (work) => database.yieldTo(work),
    };
    thread = new ManagementThread(parts);
  });
  afterAll(async () => {
    await thread.close();
    await database.close();
    folder.remove();
  });

  test('answers a long list in pieces, with a change that was committed just before', async () => {
    for (const value of ['first', 'second']) {
      await store.commit(ADA, changing(environment, ['checkout', JSON.stringify({ enabled: true, value })]));
      const answer = await thread.answer(get('/api/projects/demo/environments/production/flags'));
      expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'application/json']);
      const { flags } = JSON.parse(await answer.text());
      expect(flags.map((flag: { state: { value: string } }) => flag.state.value)).toEqual([
        value,
        LONG,
        LONG,
        LONG,
      ]);
    }
  });

  test('answers a short list in one piece, and streams the audit log', async () => {
    const { headers, body } = await thread.answer(get('/api/projects/demo/environments'));
    expect(headers.has('Content-Type')).toBe(true);
    expect(await new Response(body).json()).toMatchObject({ environments: [{ name: 'production' }] });
    const lines = await (await thread.answer(get('/api/audit?format=ndjson'))).text();
    expect(lines.trim().split('\n').length).toBeGreaterThan(5);
  });

  test('rejects with the refusal of the operation', async () => {
    await expect(thread.answer(get('/api/projects/other/flags'))).rejects.toMatchObject({
      name: 'ServiceError',
      code: 'project_not_found',
    });
  });

  test('imports, and answers once the node has applied the change', async () => {
    const document = 'halyard: 1\nproject: imported\nenvironments: [production]\nflags: {a: {}}\n';
    const call = post('/api/import', document, 'application/yaml');
    const answer = await thread.answer(call);
    expect(await answer.json()).toMatchObject({
      project: 'imported',
      flagsCreated: ['a'],
      seq: applied.at(-1),
    });
    expect(await store.read((reader) => readProject(reader, 'imported'))).toBeDefined();
    node.failure = new StoreOutage('the log is lost');
    const again = document.replace('{}', '{description: changed}').replace('imported', 'imported-2');
    // Not `.rejects`, which delivers only one message of a thread while it waits.
    const refusal = await thread.answer(post('/api/import', again, 'application/yaml')).catch(String);
    expect(refusal).toBe('StoreOutage: the log is lost');
    node.failure = undefined;
  });

  test('archives and restores a flag, and answers once the node has applied the change', async () => {
    for (const [action, isArchived] of [
      ['archive', true],
      ['restore', false],
    ] as const) {
      const answer = await thread.answer(post(`/api/projects/demo/flags/long-2/${action}`, '{}'));
      const flag = JSON.parse(await answer.text());
      expect([flag.seq, 'archivedAt' in flag]).toEqual([applied.at(-1), isArchived]);
    }
  });

  test('refuses an import while the node takes no changes', async () => {
    node.refusal = new ServiceError('internal_error', 'not now');
    const document = '{"halyard":1,"project":"refused","environments":[],"flags":{}}';
    await expect(thread.answer(post('/api/import', document))).rejects.toMatchObject({
      code: 'internal_error',
      message: 'not now',
    });
    expect(await store.read((reader) => readProject(reader, 'refused'))).toBeUndefined();
    node.refusal = undefined;
  });

  test('refuses an import whose author lost the rights while it waited for its turn', async () => {
    const token = makeToken();
    await store.commit(ADA, (transaction) => insertAccessToken(transaction, token, 'digest'));
    const credential = (await store.read((reader) => readTokenByDigest(reader, 'digest')))?.credential;
    const change = Promise.withResolvers<void>();
    const turn = database.yieldTo(() => change.promise);
    const call = post('/api/import', EMPTY_PROJECT.replace('"a"', '"late"'));
    const answer = thread
      .answer({ ...call, actor: { ...call.actor, ...(credential && { credential }) } })
      .catch((error: unknown) => error);
    const revoked = store.commit(ADA, (transaction) => storeRevocation(transaction, token, Date.now()));
    // On SQLite the revocation waits for the same turn, before the import.
    if (engine === 'postgres') await revoked;
    change.resolve();
    await Promise.all([turn, revoked]);
    expect(await answer).toMatchObject({ name: 'ServiceError', code: 'forbidden' });
    expect(await store.read((reader) => readProject(reader, 'late'))).toBeUndefined();
  });

  test('compares a document, and previews its import, while another change is in the database', async () => {
    const change = Promise.withResolvers<void>();
    const turn = database.yieldTo(() => change.promise);
    const document = '{"halyard":1,"project":"demo","environments":["production"],"flags":{"added":{}}}';
    const seqs = applied.length;
    for (const path of ['/api/diff', '/api/import?dryRun=true']) {
      const answer = await thread.answer(post(path, document));
      expect(await answer.json()).toMatchObject({ flagsCreated: ['added'], notAllowed: [] });
    }
    change.resolve();
    await turn;
    expect(applied.length).toBe(seqs);
  });

  test('refuses more calls than its queue has places, and forgets those whose callers went away', async () => {
    const authors = Array.from({ length: 5 }, (_, index) => `operator:${index}@example.com`);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 70 }, (_, index) => thread.answer(by(authors[index % 5] ?? '', LIST))),
    );
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    // On a busy machine others find no free connection in time.
    const queue = refused.filter((reason) => reason instanceof ServiceError);
    expect(queue).toMatchObject(Array(6).fill({ code: 'internal_error', retryAfterSeconds: 1 }));
    for (const outcome of outcomes) if (outcome.status === 'fulfilled') await outcome.value.body?.cancel();
    expect(await (await thread.answer(LIST)).text()).not.toBe('');
  });

  test('leaves places to others when one author takes many and reads none', async () => {
    const greedy = await Promise.allSettled(Array.from({ length: 20 }, () => thread.answer(LIST)));
    const refused = greedy.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    const limited = refused.filter((reason) => reason instanceof ServiceError);
    expect(limited).toMatchObject(Array(4).fill({ code: 'rate_limited', retryAfterSeconds: 1 }));
    const other = await thread.answer(by('operator:other@example.com', LIST));
    expect(JSON.parse(await other.text()).flags.length).toBeGreaterThan(0);
    for (const outcome of greedy) if (outcome.status === 'fulfilled') await outcome.value.body?.cancel();
  });

  test('ends an answer with an error when its thread ends between two pieces', async () => {
    const other = new ManagementThread(parts);
    const reader = (await other.answer(LIST)).body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    await other.close();
    const rest = async () => {
      while ((await reader?.read())?.done === false);
    };
    await expect(within('the answer ends', rest())).rejects.toThrow('has ended');
  });

  test('ends an answer of which no piece is taken, and frees its place', async () => {
    const impatient = new ManagementThread({ ...parts, silenceMs: 20 });
    const ends = Array.from({ length: 3 }, async () => {
      const reader = (await impatient.answer(LIST)).body?.getReader();
      return within('the answer breaks off', reader?.closed ?? Promise.resolve()).catch(String);
    });
    const end = 'Error: the caller took nothing for too long';
    expect(await Promise.all(ends)).toEqual([end, end, end]);
    const lists = await Promise.all(Array.from({ length: 16 }, () => impatient.answer(LIST)));
    for (const { body } of lists) await body?.cancel().catch(() => {});
    await impatient.close();
  });

  test('ends an answer whose reader loses rights between two pieces', async () => {
    let isValid = true;
    const other = new ManagementThread({ ...parts, rightsMs: 0 });
    const whole = await other.answer(LIST, async () => isValid);
    expect((await whole.text()).length).toBeGreaterThan(2 * LONG.length);
    const answer = await other.answer(LIST, async () => isValid);
    isValid = false;
    await expect(answer.text()).rejects.toThrow('the rights of the caller have ended');
    await other.close();
  });

  test('fails its open calls when it is closed, and takes no others', async () => {
    const other = new ManagementThread(parts);
    const open = other.answer(get('/api/projects/demo/flags'));
    const outcome = open
      .then(({ body }) => new Response(body).text())
      .then(
        () => 'answered',
        () => 'failed',
      );
    await other.close();
    await other.close();
    expect(['answered', 'failed']).toContain(await outcome);
    await expect(other.answer(get('/api/projects'))).rejects.toMatchObject({ retryAfterSeconds: 1 });
  });
});

test('a change whose thread ended while it waited for its turn gets none later', async () => {
  const folder = temporaryFolder();
  const turn = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  let waiting: Promise<void> | undefined;
  let turns = 0;
  const thread = new ManagementThread({
    settings: { data: folder.path },
    isSmall: () => true,
    assertWritable: () => void turns++,
    waitForApplied: async () => {},
    yieldTo: (work) => {
      waiting = turn.promise.then(work);
      asked.resolve();
      return waiting;
    },
  });
  const change = thread.answer(post('/api/import', EMPTY_PROJECT)).catch(String);
  await asked.promise;
  await thread.close();
  expect(await change).toContain('has ended');
  turn.resolve();
  expect(await waiting?.catch(String)).toContain('This node is stopping');
  expect(turns).toBe(0);
  folder.remove();
});

test('a thread that hangs in a change is given up, so that other changes get their turn', async () => {
  const folder = temporaryFolder();
  const database = await openDatabase({ data: folder.path, databasePoolSize: 1 });
  const holder = new Database(folder.file('halyard.db'));
  holder.run('BEGIN EXCLUSIVE');
  const thread = new ManagementThread({
    settings: { data: folder.path },
    isSmall: () => false,
    assertWritable: () => {},
    waitForApplied: async () => {},
    yieldTo: (work) => database.yieldTo(work),
    turnMs: 100,
  });
  const change = thread.answer(post('/api/import', EMPTY_PROJECT));
  await expect(change).rejects.toThrow('gave up an import, export or long list after 0.1 seconds');
  holder.run('ROLLBACK');
  holder.close();
  expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await thread.close();
  await database.close();
  folder.remove();
});

test('a thread that cannot open its database rejects as the store does, and another call tries again', async () => {
  const folder = temporaryFolder();
  await Bun.write(folder.file('file'), '');
  const settings = { data: folder.file('file') };
  const thread = new ManagementThread({
    settings,
    isSmall: () => true,
    assertWritable: () => {},
    waitForApplied: async () => {},
    yieldTo: (work) => work(),
  });
  for (let attempt = 0; attempt < 2; attempt++) {
    await expect(thread.answer(get('/api/projects'))).rejects.toThrow(StorageError);
  }
  await thread.close();
  folder.remove();
});

test('a node with little data only hands long bodies to its thread', () => {
  const thread = new ManagementThread({ isSmall: () => true } as ManagementThreadParts);
  const takes = (init?: RequestInit) => thread.takes(new Request('http://node/api/import', init));
  expect(takes()).toBe(false);
  expect(takes({ method: 'POST', body: 'x', headers: { 'Content-Length': '1' } })).toBe(false);
  expect(takes({ method: 'POST', body: 'x', headers: { 'Content-Length': '1000000' } })).toBe(true);
  expect(takes({ method: 'POST', body: 'x' })).toBe(true);
});

test('errors of another thread are handled like our own', () => {
  const errors = [
    new ServiceError('rate_limited', 'slower', { retryAfterSeconds: 3 }),
    new StoreOutage('away'),
    new StoreBusy('busy'),
    new StorageError('damaged'),
    new RangeError('a bug'),
  ];
  const copies = errors.map((error) => errorOf(structuredClone(errorMessage(error))));
  expect(copies.map(({ name, message }) => [name, message])).toEqual([
    ['ServiceError', 'slower'],
    ['StoreOutage', 'away'],
    ['StoreBusy', 'busy'],
    ['StorageError', 'damaged'],
    ['Error', 'a bug'],
  ]);
  expect(copies[0]).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 3 });
  // Its sentence differs from that of any other outage.
  const error = errorOf(errorMessage(new ReadOnlyDatabaseError('a standby')));
  expect(error).toBeInstanceOf(ReadOnlyDatabaseError);
});

/** As `call`, by another author. */
function by(name: string, call: HeavyCall): HeavyCall {
  return { ...call, actor: { ...call.actor, name } };
}

function get(path: string): HeavyCall {
  return { method: 'GET', url: `http://node${path}`, headers: {}, actor: { ...ADA, permissions: UNLIMITED } };
}

function post(path: string, body: string, type = 'application/json'): HeavyCall {
  const bytes = new TextEncoder().encode(body);
  return { ...get(path), method: 'POST', headers: { 'Content-Type': type }, body: bytes };
}
