import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { Management, type NodeProcess, openSse, startNode, until } from '@halyard/testing';
import { commandsAt } from './test-shell.ts';

setDefaultTimeout(60_000);

let node: NodeProcess;
const { halyard, json, seen } = commandsAt(() => node);

beforeAll(async () => {
  node = await startNode({ env: { HALYARD_DRAIN_SECONDS: '0' } });
});

afterAll(async () => {
  await node.stop();
});

/** Runs as on a terminal, again and again, until what it prints is as expected. */
async function shows(line: string, expected: RegExp): Promise<string> {
  return await until(`"halyard ${line}" prints ${expected}`, async () => {
    const { out } = await halyard(line, { isTerminal: true });
    return expected.test(out) && out;
  });
}

const PRODUCTION = ['--project', 'deck', '--env', 'production'];

test('audit exports all entries as lines, of any number, through its filters', async () => {
  const management = new Management(node);
  await management.createProject('deck');
  for (let n = 0; n < 30; n++) await management.putState('deck', 'staging', 'a', { enabled: true, value: n });
  const exported = async (...words: string[]) => {
    const { exitCode, out } = await halyard(['audit', '--format', 'ndjson', ...words]);
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

test('S24.3 audit verify compares the log with its chain, and fails without the head that was noted', async () => {
  const found = await json('audit verify');
  expect(found).toMatchObject({ problems: [], unchained: expect.any(Number) });
  expect(await halyard('audit verify', { isTerminal: true })).toMatchObject({
    exitCode: 0,
    out: expect.stringMatching(/^Compared \d+ entr/),
  });

  const head = `1:${'0'.repeat(64)}`;
  const lost = await halyard(['audit', 'verify', '--head', head]);
  expect(lost).toMatchObject({ exitCode: 1, err: expect.stringContaining(`does not continue from ${head}`) });
  expect(JSON.parse(lost.out)).toMatchObject({ problems: [], hasHead: false });
  expect((await halyard('audit verify --head 1:x')).exitCode).toBe(2);
});

test('clients shows open streams, delivery who received a change', async () => {
  const management = new Management(node);
  await management.createProject('shop');
  const { key } = await management.createKey('shop', ['production'], { name: 'till' });
  const url = `${node.url}/v1/stream?env=production`;
  const stream = await openSse(url, { headers: { 'x-service-key': key } });
  await stream.nextFrame();
  const clients = /\nproduction +all +1 +1\nproduction +till \(\.\.\.\w{4}\) +1 +1 +\d{4}-.+Z\n/;
  expect(await shows('clients --project shop', clients)).toMatch(clients);
  await management.putState('shop', 'production', 'a', { enabled: true });
  const audit = (await management.request('GET', '/api/audit?target=a&limit=1')) as {
    readonly entries: readonly { readonly seq: number }[];
  };
  const delivery =
    /^Revision 1 of production of shop: seen by 1 of 1 stream, slowest \d+ ms\.\nNODE .*\n\S+ +1 +1 +\d+ ms\n$/;
  expect(await shows(`delivery ${audit.entries[0]?.seq}`, delivery)).toMatch(delivery);
  stream.close();
});

describe('audit', () => {
  test('shows changes with a note in any script', async () => {
    await halyard(['flag', 'set', 'noted', ...PRODUCTION, '--on', '--note', 'déjà vu → 日本']);
    const entry = (await json('audit --project deck --env production --target noted --limit 1')).entries[0];
    expect(entry).toMatchObject({ action: 'flag.changed', target: 'noted', note: 'déjà vu → 日本' });
    expect(await seen(['audit', ...PRODUCTION])).toMatch(
      /^SEQ +TIME +ACTOR +ACTION +WHERE +TARGET +NOTE\n[\s\S]*noted +déjà vu → 日本\n/,
    );
  });

  test('says how to see older entries, while there are any', async () => {
    const newest = await seen('audit --limit 1');
    const [, seq] = /^(\d+) .*\nOlder entries: --before \1\n$/m.exec(newest) ?? [];
    expect([newest, seq !== undefined]).toEqual([newest, true]);
    expect(await seen(`audit --limit 1 --before ${seq}`)).toMatch(/^SEQ .*\n\d+ /);
    expect(await seen('audit --target no-such-flag')).not.toContain('--before');
    expect(await seen('audit --limit 1000 --target noted')).not.toContain('--before');
  });
});

test('removes control characters from a note', async () => {
  const run = await halyard([
    'flag',
    'set',
    'noted',
    ...PRODUCTION,
    '--off',
    '--note',
    'fix:\u001b[31m\r\nred\u0001',
  ]);
  expect(run).toMatchObject({ exitCode: 0 });
  const entry = (await json('audit --project deck --target noted --limit 1')).entries[0];
  expect(entry.note).toBe('fix: [31m red');
});

describe('the filters of audit', () => {
  test('filter by actor, action and time', async () => {
    await json(['flag', 'set', 'audited', ...PRODUCTION, '--on']);
    const count = async (...filter: string[]) => (await json(['audit', ...filter])).entries.length;
    const [{ actor }] = (await json('audit --limit 1')).entries;
    expect(await count('--since', '1h', '--actor', actor, '--action', 'flag')).toBeGreaterThan(0);
    expect(await count('--until', '1h')).toBe(0);
    expect(await count('--since', '2100-01-01')).toBe(0);
    expect(await count('--actor', 'nobody')).toBe(0);
    expect(await count('--action', 'schedule')).toBe(0);
    expect(await halyard('audit --since yesterday')).toMatchObject({ exitCode: 2, out: '' });
  });
});
