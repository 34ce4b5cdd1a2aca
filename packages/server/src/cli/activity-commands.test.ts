import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { Management, type NodeProcess, openSse, startNode, until } from '@halyard/testing';
import { runCaptured } from './test-shell.ts';

setDefaultTimeout(60_000);

let node: NodeProcess;

beforeAll(async () => {
  node = await startNode({ env: { HALYARD_DRAIN_SECONDS: '0' } });
});

afterAll(async () => {
  await node.stop();
});

/** Runs as on a terminal, again and again, until what it prints is as expected. */
async function seen(line: string, expected: RegExp): Promise<string> {
  return await until(`"halyard ${line}" prints ${expected}`, async () => {
    const { out } = await runCaptured(line.split(' '), {
      isTerminal: true,
      env: { HALYARD_URL: node.url, HALYARD_TOKEN: node.adminToken },
    });
    return expected.test(out) && out;
  });
}

test('audit exports all entries as lines, of any number, through its filters', async () => {
  const management = new Management(node);
  await management.createProject('deck');
  for (let n = 0; n < 30; n++) await management.putState('deck', 'staging', 'a', { enabled: true, value: n });
  const env = { HALYARD_URL: node.url, HALYARD_TOKEN: node.adminToken };
  const exported = async (...words: string[]) => {
    const { exitCode, out } = await runCaptured(['audit', '--format', 'ndjson', ...words], { env });
    expect(exitCode).toBe(0);
    return out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  };
  const entries = await exported('--project', 'deck');
  expect(entries.filter(({ target }) => target === 'a').length).toBe(31);
  expect(entries).toEqual(entries.toSorted((a, b) => b.seq - a.seq));
  const created = await exported('--project', 'deck', '--action', 'flag.created');
  expect(created).toMatchObject([{ action: 'flag.created', target: 'a' }]);
});

test('clients shows open streams, delivery who received a change', async () => {
  const management = new Management(node);
  await management.createProject('shop');
  const { key } = await management.createKey('shop', ['production'], { name: 'till' });
  const url = `${node.url}/v1/stream?env=production`;
  const stream = await openSse(url, { headers: { 'x-service-key': key } });
  await stream.nextFrame();
  const clients = /\nproduction +all +1 +1\nproduction +till \(\.\.\.\w{4}\) +1 +1 +\d{4}-.+Z\n/;
  expect(await seen('clients --project shop', clients)).toMatch(clients);
  await management.putState('shop', 'production', 'a', { enabled: true });
  const audit = (await management.request('GET', '/api/audit?target=a&limit=1')) as {
    readonly entries: readonly { readonly seq: number }[];
  };
  const delivery =
    /^Revision 1 of production of shop: seen by 1 of 1 stream, slowest \d+ ms\.\nNODE .*\n\S+ +1 +1 +\d+ ms\n$/;
  expect(await seen(`delivery ${audit.entries[0]?.seq}`, delivery)).toMatch(delivery);
  stream.close();
});
