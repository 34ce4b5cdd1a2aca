import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { formatProjectKey } from '@halyard/protocol';
import { openSse, temporaryFolder, until, within } from '@halyard/testing';
import pino from 'pino';
import { digestOf } from '../domain/secret.ts';
import { insertKey, storeKeyRevocation } from '../nouns/keys/key-table.ts';
import { createLogger } from '../observability/logger.ts';
import { logSourceOf } from '../storage/change-log.ts';
import { openSqlite } from '../storage/engines/sqlite.ts';
import { migrate } from '../storage/schema.ts';
import { ENGINES, openTestStore, type TestEngine } from '../storage/test-engines.ts';
import { ADA, changing, makeKey, seed } from '../storage/test-records.ts';
import { startEvaluationNode } from './evaluation.ts';

setDefaultTimeout(60_000);

const ON = '{"enabled":true}';
const OFF = '{"enabled":false}';

describe.each(ENGINES)('a node that only serves reads, on the log of $name', (engine: TestEngine) => {
  test('answers reads and streams every change, without a management API', async () => {
    await using home = await openTestStore(engine);
    const { project, environment } = await seed(home.store);
    const key = formatProjectKey(crypto.getRandomValues(new Uint8Array(32)));
    const record = makeKey(project);
    await home.store.commit(ADA, (transaction) => insertKey(transaction, record, digestOf(key)));
    await home.store.commit(ADA, changing(environment, ['checkout', ON]));

    const config = { host: '127.0.0.1', port: 0, reusePort: false, drainSeconds: 0, maxQueuedBytes: 1 << 20 };
    const source = logSourceOf(await home.connect());
    const node = await startEvaluationNode(source, config, createLogger({ level: 'silent', format: 'json' }));
    try {
      const headers = { 'X-Service-Key': key };
      const read = await fetch(`${node.url}/v1/flags/checkout?env=production`, { headers });
      expect(await read.json()).toEqual({ environment: 'production', key: 'checkout', enabled: true });

      const stream = await openSse(`${node.url}/v1/stream?env=production`, { headers });
      expect((await stream.nextFrame()).data).toBe(`{"checkout":${ON}}`);
      await home.store.commit(ADA, changing(environment, ['checkout', OFF]));
      expect((await stream.nextFrame()).data).toBe(`{"checkout":${OFF}}`);

      expect((await fetch(`${node.url}/readyz`)).status).toBe(200);
      expect(await (await fetch(`${node.url}/metrics`)).text()).toContain('halyard_streams_open 1');
      for (const path of ['/', '/api/projects', '/docs/api']) {
        expect([path, (await fetch(`${node.url}${path}`)).status]).toEqual([path, 404]);
      }
      await home.store.commit(ADA, (transaction) => storeKeyRevocation(transaction, record, Date.now()));
      expect((await within('the stream ends', stream.ended)).how).toBe('closed');
      expect((await fetch(read.url, { headers })).status).toBe(401);
    } finally {
      await node.stop();
    }
  });
});

test('a node whose database files were removed is not ready, and explains why there and in the log', async () => {
  using folder = temporaryFolder();
  const path = folder.file('halyard.db');
  const database = await openSqlite({ path });
  await migrate(database);
  const config = { host: '127.0.0.1', port: 0, reusePort: false, drainSeconds: 0, maxQueuedBytes: 1 << 20 };
  const errors: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => void errors.push(line) });
  const node = await startEvaluationNode(logSourceOf(database), config, log);
  try {
    rmSync(`${path}-wal`);
    const body = await until('the node is not ready', async () => {
      const response = await fetch(`${node.url}/readyz`);
      return response.status === 503 ? response.json() : undefined;
    });
    const reason = 'The file halyard.db-wal was removed or replaced while in use: restart Halyard.';
    expect(body).toMatchObject({ status: 'not ready', canRead: true, reason });
    // It still answers reads, so it is ready for them; the reason is there for an operator.
    const forReads = await fetch(`${node.url}/readyz?for=reads`);
    expect([forReads.status, await forReads.json()]).toMatchObject([200, { reason }]);
    expect(errors.length).toBeGreaterThan(0);
    expect(errors[0]).toContain(reason);
  } finally {
    await node.stop();
    await database.close();
  }
});
