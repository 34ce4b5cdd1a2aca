import { expect, test } from 'bun:test';
import { existsSync, statSync } from 'node:fs';
import { temporaryFolder } from './temporary-folder.ts';
import { until } from './waiting.ts';

test('a temporary folder is private, new each time, and removed with its contents', async () => {
  const [a, b] = [temporaryFolder(), temporaryFolder()];
  expect(a.path).not.toBe(b.path);
  expect(statSync(a.path).mode & 0o777).toBe(0o700);
  await Bun.write(a.file('deep/down.txt'), 'x');
  a.remove();
  a.remove();
  expect(existsSync(a.path)).toBe(false);
  expect(existsSync(b.path)).toBe(true);
  b.remove();
});

test('a temporary folder that was not removed is removed with its process', async () => {
  const script = `
    const { temporaryFolder } = await import(${JSON.stringify(`${import.meta.dir}/temporary-folder.ts`)});
    console.log(temporaryFolder().path);`;
  const path = (await new Response(Bun.spawn([process.execPath, '-e', script]).stdout).text()).trim();
  expect(path).toContain('halyard-');
  // The sweeper outlives it by a moment.
  await until('the folder is removed', () => !existsSync(path));
});
