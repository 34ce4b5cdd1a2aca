import { beforeAll, expect, test } from 'bun:test';
import { resolve } from 'node:path';
import { sharedPostgres, temporaryFolder } from '@halyard/testing';
import { buildExecutable } from './build-executable.ts';
import { checkExecutable } from './check-executable.ts';

const PATIENCE_MS = 60_000;
const executable = temporaryFolder().file('halyard');

beforeAll(() => buildExecutable(executable), PATIENCE_MS);

test(
  'the executable does everything from an empty folder, on SQLite',
  async () => {
    await checkExecutable(executable);
  },
  PATIENCE_MS,
);

test(
  'the executable does everything from an empty folder, on PostgreSQL',
  async () => {
    const server = await sharedPostgres();
    await checkExecutable(executable, { HALYARD_DATABASE_URL: await server.createDatabase() });
  },
  PATIENCE_MS,
);

test(
  'the executable does everything from an empty folder, with two workers',
  async () => {
    await checkExecutable(executable, { HALYARD_WORKERS: '2' });
  },
  PATIENCE_MS,
);

test('the executable reports the commit that it was built from', () => {
  const { stdout } = Bun.spawnSync([executable, 'version', '--json'], { env: {} });
  const head = String(Bun.spawnSync(['git', 'rev-parse', '--short=12', 'HEAD']).stdout).trim();
  // Without a repository the commit is unknown.
  expect(JSON.parse(String(stdout)).commit ?? '').toStartWith(head);
});

test('the executable does not hold the folder that it was built in', async () => {
  const bytes = Buffer.from(await Bun.file(executable).arrayBuffer());
  expect(bytes.indexOf(resolve(import.meta.dir, '..'))).toBe(-1);
});

test(
  'an executable that does not work is noticed',
  async () => {
    const failure = await checkExecutable(executable, { HALYARD_LOG_LEVEL: 'none' }).catch(
      (error: unknown) => error,
    );
    expect(String(failure)).toContain('does not serve');
  },
  PATIENCE_MS,
);
