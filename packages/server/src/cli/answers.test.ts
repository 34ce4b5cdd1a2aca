import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Management, type NodeProcess, sendRaw, startNode } from '@halyard/testing';
import { commandsAt } from './test-shell.ts';

let node: NodeProcess;
const { halyard, json, seen } = commandsAt(() => node);

beforeAll(async () => {
  node = await startNode({ env: { HALYARD_DRAIN_SECONDS: '0' } });
}, 60_000);

afterAll(() => node.stop(), 60_000);

test('a change of which the answer is lost is found, with its number', async () => {
  let isLost = false;
  const proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const { method, headers } = request;
      const answer = await fetch(node.url + pathname + search, {
        method,
        headers,
        body: await request.bytes(),
      });
      if (method === 'GET') return answer;
      isLost = true;
      return new Response('<h1>Bad gateway</h1>', { status: 502 });
    },
  });
  try {
    const env = { HALYARD_URL: `http://127.0.0.1:${proxy.port}` };
    const { exitCode, err } = await halyard('project create lost', { env });
    expect([isLost, exitCode]).toEqual([true, 1]);
    const { operation } = (await json('audit --limit 1')).entries[0];
    expect(err).toContain(`The change was made: it is number ${operation}.`);
    expect(err).not.toContain('may have been made');
  } finally {
    await proxy.stop(true);
  }
});

test('long lists are read and written page by page', async () => {
  await halyard('project create long');
  const changes = Array.from({ length: 1001 }, (_, index) => ({
    key: `flag-${String(index).padStart(4, '0')}`,
    state: { enabled: true },
  }));
  await new Management(node).change('long', 'staging', changes);
  const outputs: string[] = [];
  const { out } = await halyard('flag list --project long --env staging', {
    onOutput: (written) => outputs.push(written),
  });
  const { environment, revision, flags, next } = JSON.parse(out);
  expect([environment, revision, next]).toEqual(['staging', 1, undefined]);
  expect(flags.map(({ key }: { key: string }) => key)).toEqual(changes.map(({ key }) => key));
  expect(outputs.length).toBeGreaterThan(1);
  const table = await seen('flag list --project long');
  expect(table.trim().split('\n')).toBeArrayOfSize(1002);
  expect((await json('audit --project long --limit 1000')).entries.length).toBeGreaterThanOrEqual(1000);

  const plain = await rawAnswer('GET /api/projects/long/flags');
  expect([plain.coding, plain.vary]).toEqual([null, 'Accept-Encoding']);
  const coded = await rawAnswer('GET /api/projects/long/flags', 'gzip;q=0.5, zstd');
  expect([coded.coding, coded.vary]).toEqual(['zstd', 'Accept-Encoding']);
  expect(coded.body.length).toBeLessThan(plain.body.length / 10);
  expect(Buffer.from(Bun.zstdDecompressSync(coded.body)).equals(plain.body)).toBeTrue();
  const zipped = await rawAnswer('GET /api/openapi.json', 'gzip');
  expect(JSON.parse(Buffer.from(Bun.gunzipSync(new Uint8Array(zipped.body))).toString()).openapi).toStartWith(
    '3.1',
  );
  await halyard('project delete long --yes');
}, 60_000);

test('what holds a secret, names a revision, streams, is short or was asked by another site is not compressed', async () => {
  await halyard('project create coded');
  const large = '/api/projects/coded/environments/production/flags/large';
  const state = { enabled: true, value: 'x'.repeat(10_000) };
  const asked = [
    ['POST /api/projects/coded/keys', 'zstd', { name: 'coded', environments: ['production'] }],
    [`PUT ${large}`, 'zstd', state],
    [`GET ${large}`, 'zstd'],
    ['GET /api/projects/coded', 'zstd'],
    ['GET /api/audit?format=ndjson', 'zstd'],
    ['GET /api/openapi.json', 'zstd\r\nSec-Fetch-Site: cross-site'],
  ] as const;
  for (const [what, accept, body] of asked) {
    const { status, coding } = await rawAnswer(what, accept, body);
    expect([what, status, coding]).toEqual([what, what.startsWith('POST') ? 201 : 200, null]);
  }
  await halyard('project delete coded --yes');
});

test('reports an answer that is not from Halyard', async () => {
  const other = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response('<html>', { status: 502 }),
  });
  try {
    const run = await halyard(`project list --url http://127.0.0.1:${other.port}`);
    expect(run).toMatchObject({ exitCode: 1, out: '' });
    expect(run.err).toContain('returned 502. This is not a Halyard answer');
  } finally {
    await other.stop(true);
  }
});

/** An answer as it is on the wire; without `accept` the caller names no coding. */
async function rawAnswer(what: string, accept?: string, body?: object) {
  const text = body === undefined ? '' : JSON.stringify(body);
  const head = [
    `${what} HTTP/1.1`,
    `Host: ${new URL(node.url).host}`,
    `Authorization: Bearer ${node.adminToken}`,
    'Connection: close',
    ...(accept === undefined ? [] : [`Accept-Encoding: ${accept}`]),
    ...(body === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${text.length}`]),
  ];
  const [answer] = (await sendRaw(node.url, `${head.join('\r\n')}\r\n\r\n${text}`)).answers;
  if (answer === undefined) throw new Error(`${what} was not answered`);

  const { status, headers, body: bytes } = answer;
  return { status, coding: headers.get('Content-Encoding'), vary: headers.get('Vary'), body: bytes };
}
