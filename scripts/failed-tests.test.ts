import { expect, test } from 'bun:test';
import { temporaryFolder } from '@halyard/testing';
import { failuresIn, formatFailures } from './failed-tests.ts';

test('finds what the runner wrote for each failure, and for an error between tests', async () => {
  using folder = temporaryFolder();
  await Bun.write(
    folder.file('a.test.ts'),
    `import { expect, test } from 'bun:test';
    test('passes', () => {});
    test('fails', () => { console.log('said before'); expect(1 + 1, 'the sum').toBe(3); });
    test('passes too', () => console.log('said by another'));`,
  );
  await Bun.write(folder.file('b.test.ts'), `throw new Error('before any test');`);
  // One pipe, as in a log, keeps the lines of a test before its result.
  const run = Bun.spawn(['sh', '-c', '"$0" test 2>&1', process.execPath], {
    cwd: folder.path,
    stdout: 'pipe',
    env: { ...process.env, NO_COLOR: '1' },
  });
  const output = await new Response(run.stdout).text();
  const failures = failuresIn(output);
  const printed = new Map(failures.map((failure) => [failure.file, formatFailures([failure])]));
  expect([...printed.keys()].sort()).toEqual(['a.test.ts', 'b.test.ts']);
  for (const text of ['said before', 'the sum', '(fail) fails'])
    expect(printed.get('a.test.ts')).toContain(text);
  expect(printed.get('a.test.ts')).not.toContain('said by another');
  expect(printed.get('b.test.ts')).toContain('before any test');
});

test('prints many long failures in few lines, and counts the rest', () => {
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`);
  const failures = Array.from({ length: 25 }, (_, index) => ({
    name: `(fail) ${index}`,
    file: 'a.test.ts',
    lines,
  }));
  const printed = formatFailures(failures);
  expect(printed).toContain('line 99\n(fail) 19\n');
  expect(printed).toEndWith('… and 5 more.\n');
  expect(printed.split('\n').length).toBeLessThan(250);
  expect(formatFailures(failures.slice(0, 1)).split('\n').length).toBeLessThan(66);
  expect(formatFailures([])).toBe('');
});
