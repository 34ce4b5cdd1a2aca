import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { Management, openSse, startNode, temporaryFolder } from '@halyard/testing';
import { runCaptured } from './test-shell.ts';

setDefaultTimeout(60_000);

const folder = temporaryFolder();
afterAll(() => folder.remove());

test('a running node is backed up, and once it is stopped it can be restored', async () => {
  const dataFolder = folder.file('data');
  const file = folder.file('a.backup');
  const first = await startNode({ dataFolder });
  const management = new Management(first);
  await management.createProject('shop');
  const { key } = await management.createKey('shop', ['production']);
  await management.putState('shop', 'production', 'checkout', { enabled: true });

  const schedules = '/api/projects/shop/schedules';
  const changes = [{ key: 'checkout', state: { enabled: false } }];
  const dueAt = new Date(Date.now() + 3_600_000).toISOString();
  await management.request('POST', schedules, { body: { environment: 'production', dueAt, changes } });

  const backup = await runCaptured(['backup', file, '--data', dataFolder], { isTerminal: true });
  expect(backup).toMatchObject({ exitCode: 0, err: '' });
  expect(backup.out).toMatch(
    /^Backed up 1 project, 3 environments and 1 flag to \/.+a\.backup \(\d+ KiB\), verified\.\n$/,
  );
  await management.putState('shop', 'production', 'checkout', { enabled: false });

  const restoreNow = () =>
    runCaptured(['restore', file, '--data', dataFolder, '--replace'], { isTerminal: true });
  expect(await restoreNow()).toMatchObject({
    exitCode: 1,
    err: 'error: A node uses the database: stop all nodes first.\n',
  });
  await first.stop();
  const restored = await restoreNow();
  expect(restored).toMatchObject({ exitCode: 0, err: '' });
  expect(restored.out).toContain('Restored 1 project, 3 environments and 1 flag from the backup of 2');
  expect(restored.out).toContain(
    'Kept 1 pending schedule: cancel again what was canceled after the backup.\n',
  );

  const second = await startNode({ dataFolder });
  const stream = await openSse(`${second.url}/v1/stream?env=production`, {
    headers: { 'X-Service-Key': key },
  });
  expect((await stream.nextFrame()).data).toContain('"checkout":{"enabled":true}');
  await stream.close();
  await second.stop();
});

test('of the backups in a folder, the newest are kept', async () => {
  const [data, target] = [folder.file('other'), folder.file('backups')];
  mkdirSync(target);
  const restored = await runCaptured(['restore', folder.file('a.backup'), '--data', data]);
  expect(JSON.parse(restored.out)).toMatchObject({ projects: 1, engine: 'sqlite' });
  for (const name of ['halyard-20200101T000000Z.backup', 'halyard-20210101T000000Z.backup', 'mine.backup'])
    writeFileSync(`${target}/${name}`, '');
  const backup = await runCaptured(['backup', target, '--data', data, '--keep', '2']);
  const { file, removed } = JSON.parse(backup.out);
  expect(removed).toEqual(['halyard-20200101T000000Z.backup']);
  expect(readdirSync(target).sort()).toEqual([
    'halyard-20210101T000000Z.backup',
    file.split('/').at(-1),
    'mine.backup',
  ]);
  // Two of three are not kept because there is room for one more.
  rmSync(file);
  writeFileSync(`${target}/halyard-20220101T000000Z.backup`, '');
  const another = await runCaptured(['backup', target, '--data', data, '--keep', '4']);
  expect(JSON.parse(another.out).removed).toEqual([]);
});

test.each([
  [['backup', folder.file('a.backup'), '--keep', '3'], 2, 'a.backup is a file, and --keep needs a folder.'],
  [['backup', '/no/such/folder', '--keep', '3'], 2, 'The folder /no/such/folder does not exist: create it,'],
  [
    ['backup', '/no/such/folder/', '--data', '/no/such/data'],
    2,
    'The folder /no/such/folder/ does not exist',
  ],
  [['backup', 'x.backup', '--keep', '0'], 2, '--keep must be a whole number'],
  [
    ['backup', '/no/such/folder/x.backup', '--data', '/no/such/data'],
    1,
    'The folder /no/such/folder does not exist.',
  ],
  [['backup', 'x.backup', '--data', '/no/such/data'], 1, 'There is no database in /no/such/data'],
  [['restore', '/no/such/file'], 1, '/no/such/file cannot be used: there is no such file or folder.'],
  [['backup', 'x.backup', '--database-url', 'mysql://x'], 2, '--database-url'],
] as const)('%j is refused', async (line, exitCode, message) => {
  const run = await runCaptured(line, { env: { HALYARD_DATA: folder.file('unused') } });
  expect(run.exitCode).toBe(exitCode);
  expect(run.err).toContain(message);
});

test('a restore that fails leaves no folder behind that it made', async () => {
  const [damaged, data] = [folder.file('damaged.backup'), folder.file('new/data')];
  writeFileSync(damaged, 'no backup');
  expect((await runCaptured(['restore', damaged, '--data', data])).exitCode).toBe(1);
  expect(existsSync(folder.file('new'))).toBe(false);
  mkdirSync(data, { recursive: true });
  expect((await runCaptured(['restore', damaged, '--data', data])).exitCode).toBe(1);
  expect(existsSync(data)).toBe(true);
});
