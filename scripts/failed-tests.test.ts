import { expect, test } from 'bun:test';
import { temporaryFolder } from '@halyard/testing';
import { failuresIn, tellFailures } from './failed-tests.ts';

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
  // In one pipe, as in a log: only there do the lines of a test and its result have an order.
  const run = Bun.spawn(['sh', '-c', '"$0" test 2>&1', process.execPath], {
    ...{ cwd: folder.path, stdout: 'pipe', env: { ...process.env, NO_COLOR: '1' } },
  });
  const output = await new Response(run.stdout).text();
  const failures = failuresIn(output);
  const told = new Map(failures.map((failure) => [failure.file, tellFailures([failure])]));
  expect([...told.keys()].sort()).toEqual(['a.test.ts', 'b.test.ts']);
  for (const text of ['said before', 'the sum', '(fail) fails'])
    expect(told.get('a.test.ts')).toContain(text);
  expect(told.get('a.test.ts')).not.toContain('said by another');
  expect(told.get('b.test.ts')).toContain('before any test');
});

test('tells many long failures in few lines, and counts the rest', () => {
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`);
  const failures = Array.from({ length: 25 }, (_, index) => ({
    name: `(fail) ${index}`,
    file: 'a.test.ts',
    lines,
  }));
  const told = tellFailures(failures);
  expect(told).toContain('line 99\n(fail) 19\n');
  expect(told).toEndWith('… and 5 more.\n');
  expect(told.split('\n').length).toBeLessThan(250);
  expect(tellFailures(failures.slice(0, 1)).split('\n').length).toBeLessThan(66);
  expect(tellFailures([])).toBe('');
});
