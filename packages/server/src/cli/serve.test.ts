import { afterEach, describe, expect, test } from 'bun:test';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PROJECT_KEY_PATTERN } from '@halyard/protocol';
import {
  guardProcess,
  sharedPostgres,
  startTcpProxy,
  temporaryFolder,
  until,
  within,
} from '@halyard/testing';

const MAIN = join(import.meta.dir, '../main.ts');
const running: Bun.Subprocess[] = [];

afterEach(async () => {
  for (const process of running.splice(0)) {
    process.kill('SIGKILL');
    await process.exited;
  }
});

/** Starts `halyard serve` on a free port and keeps what it writes. */
function serve(args: readonly string[], env: Readonly<Record<string, string>> = {}, preload?: string) {
  const runtime = preload === undefined ? [process.execPath] : [process.execPath, '--preload', preload];
  const child = Bun.spawn([...runtime, MAIN, 'serve', '--port', '0', ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  running.push(child);
  const guard = guardProcess(child.pid);
  const out = collect(child.stdout);
  const err = collect(child.stderr);
  const ended = child.exited.then(async (code) => {
    guard.release();
    await Promise.all([out.ended, err.ended]);
    return code;
  });
  return { child, out, err, exited: () => within('the node ends', ended) };
}

/** The text of a stream so far, and a way to wait for more of it. */
function collect(stream: ReadableStream<Uint8Array>) {
  let text = '';
  const ended = (async () => {
    for await (const bytes of stream) {
      text += new TextDecoder().decode(bytes);
    }
  })();
  return {
    ended,
    get text() {
      return text;
    },
    async until(pattern: RegExp): Promise<RegExpExecArray> {
      let hasEnded = false;
      void ended.then(() => {
        hasEnded = true;
      });
      return await until(`the node writes ${pattern}`, () => {
        const match = pattern.exec(text);
        if (match === null && hasEnded) throw new Error(`${pattern} never came; there was:\n${text}`);
        return match;
      });
    },
  };
}

test('shows a person a working key on the first start only, and ends with 0 on SIGTERM', async () => {
  using data = temporaryFolder();
  const forPeople = ['--data', data.path, '--drain-seconds', '0', '--log-format', 'pretty'];
  const first = serve(forPeople);
  const [key] = await first.out.until(PROJECT_KEY_PATTERN);
  const [, url] = await first.out.until(/is running at (http:\S+)\n/);
  const answer = await fetch(`${url}/v1/flags?env=development`, { headers: { 'X-Service-Key': key } });
  expect(answer.status).toBe(200);
  first.child.kill('SIGTERM');
  expect(await first.exited()).toBe(0);
  expect(first.err.text).toEndWith('stopped\n');
  // In itself, and in the two commands that are ready to copy.
  expect(first.out.text.split(key)).toHaveLength(4);
  expect(first.err.text).not.toContain('proj_live_');

  const second = serve(forPeople);
  await second.out.until(/is running at/);
  second.child.kill('SIGINT');
  expect(await second.exited()).toBe(0);
  expect(second.out.text).not.toContain('proj_live_');
}, 60_000);

test('writes log entries without secrets for programs, with the commands that print the secrets', async () => {
  using data = temporaryFolder();
  const node = serve(['--data', data.path, '--drain-seconds', '0']);
  await node.out.until(/"Halyard is running"/);
  // The last line may still be on its way.
  const entries = node.out.text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  const messages: string[] = entries.map(({ msg }) => msg);
  expect(messages).toContain('database created');
  expect(messages).not.toContain('database schema migrated');
  const runs = messages.flatMap((message) => / run: (.*)$/.exec(message)?.[1] ?? []);
  expect(runs).toHaveLength(2);
  for (const run of runs) {
    const words = run
      .replace(/^.* run halyard /, '')
      .replace('<email>', 'ada@example.com')
      .replaceAll("'", '');
    const child = Bun.spawnSync([process.execPath, MAIN, ...words.split(' ')], { env: {} });
    expect(String(child.stdout)).toMatch(run.includes('operator') ? /#hin_\w{43}\n$/ : PROJECT_KEY_PATTERN);
  }
  node.child.kill('SIGTERM');
  expect(await node.exited()).toBe(0);
  for (const line of node.out.text.trimEnd().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
  expect(node.out.text).not.toMatch(/proj_live_|hin_|hat_/);
  expect(node.err.text).toBe('Received SIGTERM, shutting down. Send it again to force quit.\n');
}, 60_000);

test('imports a document on the first start only, and refuses an invalid one', async () => {
  using data = temporaryFolder();
  const file = join(data.path, 'flags.yaml');
  const start = () =>
    serve(['--data', join(data.path, 'data'), '--drain-seconds', '0'], { HALYARD_IMPORT: file });
  const stop = async (node: ReturnType<typeof serve>) => {
    node.child.kill('SIGTERM');
    expect(await node.exited()).toBe(0);
  };
  const document =
    'halyard: 1\nproject: shop\nenvironments: [production]\nflags:\n  banner:\n    owner: web\n';
  await Bun.write(file, document.replace('owner', 'ovner'));
  const refused = start();
  expect(await refused.exited()).toBe(1);
  expect(refused.err.text).toContain(
    `Cannot import ${file}: Line 6: "flags.banner" has an unknown member "ovner"`,
  );
  await Bun.write(file, document);
  const first = start();
  const line = await first.out.until(/\{.*imported the document of the first start.*/);
  expect(JSON.parse(line[0])).toMatchObject({ file, project: 'shop', flags: 1 });
  await first.out.until(/"Halyard is running"/);
  await stop(first);
  await rm(file);
  const later = start();
  await later.out.until(/nothing was imported: this is not the first start/);
  await later.out.until(/"Halyard is running"/);
  await stop(later);
}, 60_000);

test('a first start with a late database shows the same', async () => {
  using data = temporaryFolder();
  const address = new URL(await (await sharedPostgres()).createDatabase());
  const proxy = await startTcpProxy({ port: Number(address.port) });
  proxy.refuse();
  address.port = String(proxy.port);
  const env = { HALYARD_DATABASE_URL: address.href };
  const node = serve(['--data', data.path, '--drain-seconds', '0', '--log-format', 'pretty'], env);
  const [, url] = await node.out.until(/is running at (http:\S+)\n/);
  proxy.restore();
  await node.out.until(/\/setup#hin_\w{43}\n/);
  const [, key = ''] = await node.out.until(
    new RegExp(`not shown again\\): (${PROJECT_KEY_PATTERN.source})\\n`),
  );
  const answer = await fetch(`${url}/v1/flags?env=development`, { headers: { 'X-Service-Key': key } });
  expect(answer.status).toBe(200);
  node.child.kill('SIGTERM');
  expect(await node.exited()).toBe(0);
  await proxy.close();
}, 60_000);

test('a stopped node leaves nothing that keeps the process, so that a restart does not wait', async () => {
  using data = temporaryFolder();
  const preload = join(data.path, 'preload.ts');
  // Not emitted where the process has to be ended although something is left.
  await Bun.write(preload, "process.on('beforeExit', () => console.log('nothing is left'));");
  const node = serve(['--data', data.path, '--drain-seconds', '0'], {}, preload);
  await node.out.until(/"Halyard is running"/);
  node.child.kill('SIGTERM');
  expect(await node.exited()).toBe(0);
  expect(node.out.text).toEndWith('nothing is left\n');
}, 60_000);

test('a port in use ends the start with 1', async () => {
  using data = temporaryFolder();
  const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('') });
  try {
    const node = serve(['--data', data.path, '--port', `${other.port}`]);
    expect(await node.exited()).toBe(1);
    expect(node.err.text).toBe(
      `error: Port ${other.port} on 127.0.0.1 is in use. Stop the program that uses it, or choose another with --port.\n`,
    );
  } finally {
    await other.stop(true);
  }
}, 60_000);

test('a management port in use is reported with its own setting and address', async () => {
  using data = temporaryFolder();
  const other = Bun.serve({ port: 0, hostname: '127.0.0.2', fetch: () => new Response('') });
  try {
    const management = ['--management-port', `${other.port}`, '--management-host', '127.0.0.2'];
    const node = serve(['--data', data.path, ...management]);
    expect(await node.exited()).toBe(1);
    expect(node.err.text).toBe(
      `error: Port ${other.port} on 127.0.0.2 is in use. Stop the program that uses it, or choose another with --management-port.\n`,
    );
  } finally {
    await other.stop(true);
  }
}, 60_000);

test.each(['no-such-host.invalid', '203.0.113.1'])(
  'rejects the host %s',
  async (host) => {
    using data = temporaryFolder();
    const node = serve(['--data', data.path, '--host', host]);
    expect(await node.exited()).toBe(1);
    expect(node.err.text).toBe(
      `error: Cannot listen on ${host}: this machine does not have that address. Choose another with --host.\n`,
    );
  },
  60_000,
);

test('an unusable data folder ends the start with 1 and one sentence', async () => {
  const node = serve(['--data', '/dev/null/flags']);
  expect(await node.exited()).toBe(1);
  expect(node.err.text).toMatch(/^error: Cannot start Halyard: .+\/dev\/null\/flags.+\n$/);
}, 60_000);

test('reports all invalid settings and ends the start with 2', async () => {
  const node = serve(['--drain-seconds', 'soon'], { HALYARD_LOG_LEVEL: 'loud' });
  expect(await node.exited()).toBe(2);
  expect(node.out.text).toBe('');
  expect(node.err.text).toStartWith('error: 2 settings are invalid:\n  - --drain-seconds must be');
}, 60_000);

describe('a PostgreSQL error that a retry cannot fix', () => {
  /** A new database with the role from the documentation, and the statement that grants its rights. */
  async function preparedByTheBook() {
    const server = await sharedPostgres();
    const page = await Bun.file(join(import.meta.dir, '../../../../docs/operations/several-nodes.md')).text();
    const name = `book_${crypto.randomUUID().slice(0, 8)}`;
    const sql = /```sql\n(CREATE ROLE[^`]+)```/.exec(page)?.[1]?.replaceAll('halyard', name) ?? '';
    const [role = '', database = '', connect, grant = ''] = sql.trim().split('\n');
    expect(connect).toBe(`\\connect ${name}`);
    for (const statement of [role, database]) await server.query(statement);
    const url = new URL(server.url(name));
    url.username = name;
    url.password = /PASSWORD '([^']+)'/.exec(role)?.[1] ?? '';
    return { url, grant: () => server.query(grant, server.url(name)) };
  }

  /** Starts a node there and expects that it ends at once, with one line for people and one in the log. */
  async function expectRefusal(url: URL, reason: RegExp) {
    using data = temporaryFolder();
    const node = serve(['--data', data.path], { HALYARD_DATABASE_URL: url.href });
    expect(await node.exited()).toBe(1);
    expect(node.err.text).toMatch(/^error: Cannot start Halyard: PostgreSQL cannot be used: .+\n$/);
    expect(node.err.text).toMatch(reason);
    const failures = node.out.text.split('\n').filter((line) => line.includes('"error"'));
    expect(failures).toHaveLength(1);
    expect(failures[0]).toMatch(reason);
    expect(node.out.text).not.toContain('stack');
    expect(node.out.text).not.toContain('tried again');
  }

  test('reports a wrong password', async () => {
    const { url } = await preparedByTheBook();
    url.password = 'wrong';
    await expectRefusal(url, /password authentication failed for user .* Check the user and the password/);
  }, 60_000);

  test('reports a missing database', async () => {
    const { url } = await preparedByTheBook();
    url.pathname = '/missing';
    await expectRefusal(url, /database .?"missing.?" does not exist\. Create the database/);
  }, 60_000);

  test('reports a role that cannot create tables, and works with the documented grants', async () => {
    using data = temporaryFolder();
    const { url, grant } = await preparedByTheBook();
    await expectRefusal(url, /permission denied for schema public\. Grant this role/);
    await grant();
    const node = serve(['--data', data.path], { HALYARD_DATABASE_URL: url.href });
    await node.out.until(/"ready":true,"msg":"Halyard is running"/);
  }, 60_000);
});

/** Runs `start` under `untilStopped` in a process of its own; its first line on standard output is `ready`. */
function runProgram(start: string) {
  const program = `
    import { untilStopped } from ${JSON.stringify(join(import.meta.dir, 'serve.ts'))};
    const shell = { writeError: (text) => void process.stderr.write(text) };
    await untilStopped(shell, async () => {
      setTimeout(() => console.log('ready'));
      return await (${start})();
    });
    console.log('stopped');
    setInterval(() => {}, 1000);
  `;
  const child = Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe', stderr: 'pipe' });
  const guard = guardProcess(child.pid);
  void child.exited.then(() => guard.release());
  return child;
}

async function firstText(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader();
  const { value } = await within('the program writes', reader.read());
  reader.releaseLock();
  return new TextDecoder().decode(value);
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  const message = new RegExp(`^Received ${signal}, shutting down\\. .+ again to force quit\\.\n$`);

  test(`a second ${signal} ends a process that is still shutting down`, async () => {
    const child = runProgram('() => ({ closed: new Promise(() => {}), stop: () => new Promise(() => {}) })');
    expect(await firstText(child.stdout)).toBe('ready\n');
    child.kill(signal);
    expect(await firstText(child.stderr)).toMatch(message);
    // Signals within a second count as one, so this one is repeated until it counts as another.
    const again = setInterval(() => child.kill(signal), 100);
    expect(await within('the program ends', child.exited)).toBe(1);
    clearInterval(again);
  }, 60_000);

  test(`a ${signal} that a wrapper passes on a second time does not end the process at once`, async () => {
    // The program repeats the signal itself: a busy machine would bring one of another process too late.
    const child = runProgram(`() => {
      const closed = Promise.withResolvers();
      const stop = () => {
        process.once('${signal}', () => setTimeout(closed.resolve));
        process.kill(process.pid, '${signal}');
        return closed.promise;
      };
      return { closed: closed.promise, stop };
    }`);
    expect(await firstText(child.stdout)).toBe('ready\n');
    child.kill(signal);
    expect(await firstText(child.stderr)).toMatch(message);
    expect(await within('the program ends', child.exited)).toBe(0);
  }, 60_000);
}

test('one signal stops in order, and leftover work does not keep the process', async () => {
  const child = runProgram(`() => {
    const closed = Promise.withResolvers();
    return { closed: closed.promise, stop: async () => closed.resolve() };
  }`);
  expect(await firstText(child.stdout)).toBe('ready\n');
  child.kill('SIGTERM');
  expect(await within('the program ends', child.exited)).toBe(0);
  expect(await firstText(child.stdout)).toBe('stopped\n');
}, 60_000);

test('a signal breaks off the start, which is no failure', async () => {
  const child = runProgram('() => new Promise(() => {})');
  expect(await firstText(child.stdout)).toBe('ready\n');
  child.kill('SIGTERM');
  expect(await within('the program ends', child.exited)).toBe(0);
  expect(await new Response(child.stderr).text()).toBe('Received SIGTERM before the start was complete.\n');
}, 60_000);

test('a failed shutdown ends the process with 1', async () => {
  const child = runProgram(`() => ({
    closed: new Promise(() => {}),
    stop: async () => { throw new Error('the disk is gone'); },
  })`);
  expect(await firstText(child.stdout)).toBe('ready\n');
  child.kill('SIGTERM');
  expect(await within('the program ends', child.exited)).toBe(1);
  expect(await new Response(child.stderr).text()).toContain('error: Cannot shut down: the disk is gone\n');
}, 60_000);
