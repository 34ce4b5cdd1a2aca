import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type NodeProcess, startNode } from '@halyard/testing';
import { checkKey, checkServer, checkStream } from './doctor.ts';
import { type CapturedShellOptions, type CliRun, runCaptured } from './test-shell.ts';

const KEY = { key: 'proj_live_any', environment: 'production' };
const EAGER = { now: Date.now, timeoutMs: 100 };

/** Runs `check` against a server that answers everything with `answer`. */
async function against<T>(
  answer: () => Response | Promise<Response>,
  check: (url: string) => Promise<T>,
): Promise<T> {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch: () => answer() });
  try {
    return await check(`http://127.0.0.1:${server.port}`);
  } finally {
    await server.stop(true);
  }
}

/** A stream that sends `text` and then nothing, without an end. */
function endless(text: string): Response {
  const body = new ReadableStream({
    start: (controller) => {
      if (text !== '') controller.enqueue(new TextEncoder().encode(text));
    },
    pull: () => new Promise(() => {}),
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

test('a stream whose first frame arrives is ok', async () => {
  const finding = await against(
    () => endless(':\n\ndata: {}\n\n'),
    (url) => checkStream(url, KEY, { now: Date.now }),
  );
  expect(finding).toMatchObject({ check: 'stream', outcome: 'ok' });
});

test('detects a proxy that buffers frames', async () => {
  const finding = await against(
    () => endless(''),
    (url) => checkStream(url, KEY, EAGER),
  );
  expect(finding.outcome).toBe('failed');
  expect(finding.detail).toContain('Turn off its buffering');
});

test('detects a proxy that buffers the whole response', async () => {
  const finding = await against(
    () => new Promise<Response>(() => {}),
    (url) => checkStream(url, KEY, EAGER),
  );
  expect(finding.detail).toStartWith('no response: a proxy buffers or blocks');
});

test('a stream that ends before its first frame fails', async () => {
  const finding = await against(
    () => new Response(':\n\n'),
    (url) => checkStream(url, KEY, { now: Date.now }),
  );
  expect(finding).toMatchObject({ outcome: 'failed', detail: 'the stream ended before its first frame.' });
});

test('warns of a database that takes no changes', async () => {
  const warning = 'The database takes no changes: its disk is full.';
  const run = await against(
    () => Response.json({ status: 'ready', warning }),
    (url) => runCaptured(['doctor', '--readiness', '--url', url]),
  );
  expect(run.exitCode).toBe(0);
  expect(JSON.parse(run.out).findings).toEqual([{ check: 'readiness', outcome: 'warning', detail: warning }]);
});

test('warns about clocks that differ', async () => {
  const findings = await against(
    () => new Response('ok', { headers: { date: new Date(Date.now() - 3_600_000).toUTCString() } }),
    (url) => checkServer(url, Date.now),
  );
  expect(findings).toMatchObject([
    { check: 'server', outcome: 'ok' },
    { check: 'clock', outcome: 'warning' },
  ]);
});

test.each(['proj_live_…cdef', 'proj_live_ cdef', ''])(
  'a malformed key fails before it is sent: %j',
  async (key) => {
    const finding = await against(
      () => new Response('', { status: 401 }),
      (url) => checkKey(url, { ...KEY, key }),
    );
    expect(finding.detail).toStartWith('the key is empty or contains invalid characters');
  },
);

describe('the command', () => {
  let node: NodeProcess;

  beforeAll(async () => {
    node = await startNode({ env: { HALYARD_DRAIN_SECONDS: '0' } });
    await halyard('project create shop');
  }, 60_000);

  afterAll(() => node.stop(), 60_000);

  function halyard(line: string, options: CapturedShellOptions = {}): Promise<CliRun> {
    const env = { HALYARD_URL: node.url, HALYARD_TOKEN: node.adminToken, ...options.env };
    return runCaptured(line.split(' '), { ...options, env });
  }

  const createKey = 'key create --project shop --env production --name doctor';

  test('passes all checks, up to the first frame of a stream', async () => {
    const { out: input } = await halyard(createKey);
    const run = await halyard('doctor --key - --env production', { input, isTerminal: true });
    expect(run).toMatchObject({ exitCode: 0, err: '' });
    for (const check of ['server', 'readiness', 'access token', 'project key', 'stream']) {
      expect(run.out).toMatch(new RegExp(`^ok +${check} +`, 'm'));
    }
    expect(run.out).not.toContain(input.trim());
  });

  test('explains a wrong token and key, and ends with 1', async () => {
    const key = `proj_live_${'0'.repeat(49)}`;
    const run = await halyard(`doctor --key ${key} --token hat_wrong`);
    expect(run.exitCode).toBe(1);
    expect(run.err).toMatch(/^error: 2 of \d checks failed\.\n$/);
    const { ok, findings } = JSON.parse(run.out);
    expect(ok).toBe(false);
    expect(findings.filter((finding: { outcome: string }) => finding.outcome === 'failed')).toMatchObject([
      { check: 'access token' },
      {
        check: 'project key',
        detail: 'rejected: the checksum of the key is wrong, so it was mistyped or cut off.',
      },
    ]);
    expect(run.out + run.err).not.toContain(key);
  });

  test('finds both addresses of a server with a management port', async () => {
    const split = await startNode({ env: { HALYARD_DRAIN_SECONDS: '0', HALYARD_MANAGEMENT_PORT: '0' } });
    try {
      const managementUrl = /"managementUrl":"([^"]+)"/.exec(split.logs())?.[1] ?? '';
      const env = {
        HALYARD_URL: '',
        HALYARD_PORT: new URL(split.url).port,
        HALYARD_MANAGEMENT_PORT: new URL(managementUrl).port,
        HALYARD_TOKEN: split.adminToken,
      };
      expect(await halyard('project create shop', { env })).toMatchObject({ exitCode: 0 });
      const { out: input } = await halyard(createKey, { env });
      expect(await halyard('doctor --key -', { env, input })).toMatchObject({ exitCode: 0 });
      expect(await halyard('doctor --readiness', { env: { ...env, HALYARD_TOKEN: '' } })).toMatchObject({
        exitCode: 0,
        out: '{"ok":true,"findings":[{"check":"readiness","outcome":"ok","detail":"ready for traffic"}]}\n',
      });
      const atMain = await halyard(`doctor --url ${split.url}`, { env });
      expect(atMain).toMatchObject({ exitCode: 1, out: expect.stringContaining('set --url to it') });
      const atManagement = await halyard(`doctor --key - --url ${managementUrl}`, { env, input });
      expect(atManagement.out).toContain('Set --read-url to the address that serves flags.');
      const withBoth = `doctor --key - --url ${managementUrl} --read-url ${split.url}`;
      expect(await halyard(withBoth, { env, input })).toMatchObject({ exitCode: 0 });
    } finally {
      await split.stop();
    }
  });

  test('--readiness fails without a server', async () => {
    const run = await halyard('doctor --readiness --url http://127.0.0.1:1');
    expect(run).toMatchObject({ exitCode: 1, out: expect.stringContaining('at http://127.0.0.1:1.') });
  });

  test('--liveness checks only that the process runs, not that it is ready', async () => {
    const paths: string[] = [];
    const unready = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: ({ url }) => {
        paths.push(new URL(url).pathname);
        return new Response('', { status: paths.at(-1) === '/healthz' ? 200 : 503 });
      },
    });
    try {
      const url = `http://127.0.0.1:${unready.port}`;
      expect(await runCaptured(['doctor', '--liveness', '--url', url])).toMatchObject({
        exitCode: 0,
        err: '',
      });
      expect(paths).toEqual(['/healthz']);
      expect(await runCaptured(['doctor', '--readiness', '--url', url])).toMatchObject({ exitCode: 1 });
    } finally {
      await unready.stop(true);
    }
    expect(await halyard('doctor --liveness --url http://127.0.0.1:1')).toMatchObject({
      exitCode: 1,
      err: 'error: The server check failed.\n',
    });
  });

  test('warns when there are people and no administrator', async () => {
    const warnings = async () => {
      const { findings } = JSON.parse((await halyard('doctor')).out);
      return findings.filter(({ outcome }: { outcome: string }) => outcome === 'warning');
    };
    const join = async (email: string, role: string) => {
      const { token } = JSON.parse((await halyard(`operator invite ${email} --role ${role} --json`)).out);
      await fetch(`${node.url}/api/invitations/accept`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ token, password: 'correct horse battery' }),
      });
    };
    expect(await warnings()).toEqual([]);
    await join('viewer@example.com', 'viewer');
    expect(await warnings()).toMatchObject([{ check: 'people' }]);
    await join('admin@example.com', 'admin');
    expect(await warnings()).toEqual([]);
  });

  test('reports that no server is running', async () => {
    const run = await halyard('doctor --url http://127.0.0.1:1', { isTerminal: true });
    expect(run.exitCode).toBe(1);
    expect(run.out).toContain('No server is running at http://127.0.0.1:1. Start one with "halyard serve"');
  });
});
