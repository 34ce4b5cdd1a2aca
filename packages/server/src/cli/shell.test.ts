import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { guardProcess, temporaryFolder, within } from '@halyard/testing';

const MAIN = join(import.meta.dir, '../main.ts');

test('a broken pipe ends a command quietly', async () => {
  // The exit code goes to standard error, as the pipe is closed by then.
  const piped = '{ "$0" "$1" serve --help; echo "$?" >&2; } | true';
  const shell = Bun.spawn(['/bin/sh', '-c', piped, process.execPath, MAIN], {
    env: { PATH: process.env.PATH ?? '' },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  expect(await new Response(shell.stderr).text()).toBe('0\n');
});

test.skipIf(!existsSync('/dev/full'))('a full disk fails a command with an error', async () => {
  const shell = Bun.spawn(
    ['/bin/sh', '-c', '"$0" "$1" errors > /dev/full; echo "$?"', process.execPath, MAIN],
    {
      env: { PATH: process.env.PATH ?? '' },
      stdout: 'pipe',
      stderr: 'pipe',
    },
  );
  expect(await new Response(shell.stdout).text()).toBe('1\n');
  expect(await new Response(shell.stderr).text()).toStartWith('error: Cannot write the output: ENOSPC');
});

test('a server keeps serving after a broken pipe of its log', async () => {
  using data = temporaryFolder();
  const child = Bun.spawn(
    [process.execPath, MAIN, 'serve', '--port', '0', '--data', data.path, '--drain-seconds', '0'],
    {
      env: { PATH: process.env.PATH ?? '', HALYARD_LOG_FORMAT: 'json', HALYARD_LOG_LEVEL: 'debug' },
      stdout: 'pipe',
      stderr: 'ignore',
    },
  );
  const guard = guardProcess(child.pid);
  const reader = child.stdout.getReader();
  let out = '';
  let url: string | undefined;
  while (url === undefined) {
    const { value } = await within('the server writes where it runs', reader.read());
    out += new TextDecoder().decode(value);
    url = /"url":"([^"]+)"[^\n]*"Halyard is running"/.exec(out)?.[1];
  }
  await reader.cancel();
  expect((await fetch(`${url}/v1/flags?env=development`)).status).toBe(401);
  child.kill('SIGTERM');
  expect(await within('the server ends', child.exited)).toBe(0);
  guard.release();
}, 60_000);
