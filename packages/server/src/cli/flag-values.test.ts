import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type NodeProcess, startNode, temporaryFolder } from '@halyard/testing';
import { commandsAt } from './test-shell.ts';

let node: NodeProcess;
const { halyard, json, seen } = commandsAt(() => node);

beforeAll(async () => {
  node = await startNode({ env: { HALYARD_DRAIN_SECONDS: '0' } });
  await halyard('project create shop');
  await halyard(['flag', 'set', 'banner', ...PRODUCTION, '--on', '--value', '"blue"']);
}, 60_000);

afterAll(() => node.stop(), 60_000);

const PRODUCTION = ['--project', 'shop', '--env', 'production'];
const VALUES = ['flag', 'values', 'banner', '--project', 'shop'];

test('a value is declared, chosen by its name, and shown with it', async () => {
  expect(await seen(VALUES)).toContain('declares no values');
  const declared = await seen([...VALUES, 'control="blue"', 'treatment={"n":10.0}', '--note', 'test']);
  expect(declared).toMatch(/^control +"blue" +production/m);
  await seen([...VALUES, 'treatment={"n":10.00}', '--describe', 'From May']);
  expect(await seen(VALUES)).toMatch(/^treatment +\{"n":10\} +- +From May$/m);

  const set = await seen(['flag', 'set', 'banner', ...PRODUCTION, '--value-name', 'treatment']);
  expect(set).toMatch(/: on, value "blue" -> on, value \{"n":10\} \(treatment\) \(revision \d+\)\n$/);
  const got = await halyard(['flag', 'get', 'banner', ...PRODUCTION]);
  expect(got.out).toContain('"value":{"n":10.00}');
  expect(await seen(['flag', 'get', 'banner', ...PRODUCTION])).toContain('(treatment)\n');
  expect(await seen(['flag', 'list', '--project', 'shop'])).toContain('value {"n":10} (treatment)');
  expect(await seen(['complete', ...'flag set banner --project shop --value-name tr'.split(' ')])).toBe(
    'treatment\tFrom May\n',
  );
});

test('a state keeps a value that is changed or removed, which the command says', async () => {
  await seen([...VALUES, 'a="1"', 'b="2"', '--note', 'again']);
  await seen(['flag', 'set', 'banner', ...PRODUCTION, '--value-name', 'a']);
  const changed = await halyard([...VALUES, 'a="3"'], { isTerminal: true });
  expect(changed.err).toBe(
    'note: banner in production still serves "1", which was "a". Set the flag there to change that.\n',
  );
  const { state, valueName } = await json(['flag', 'get', 'banner', ...PRODUCTION]);
  expect([state.value, valueName]).toEqual(['1', undefined]);
  expect((await halyard([...VALUES, '--remove', 'a,b'])).exitCode).toBe(0);
});

test('a document with other named values shows which they are', async () => {
  await seen(['flag', 'set', 'levels', ...PRODUCTION, '--on']);
  const levels = ['flag', 'values', 'levels', '--project', 'shop'];
  await seen([...levels, 'low=1', 'high=2', 'gone=3']);
  using folder = temporaryFolder();
  const file = folder.file('flags.yaml');
  await halyard(['export', '--project', 'shop', '--out', file]);
  expect((await halyard(['diff', file])).exitCode).toBe(0);

  await seen([...levels, 'high=20', 'new=4', '--remove', 'gone']);
  const changed = await halyard(['diff', file], { isTerminal: true });
  expect(changed.out).toContain('~ flag levels: named values ~high, -new, +gone\n');
  await halyard(['import', file, '--policy', 'enforce']);
  expect((await halyard(['diff', file])).exitCode).toBe(0);
});

test('mistakes are refused with what is right', async () => {
  const set = (...more: string[]) => halyard(['flag', 'set', 'banner', ...PRODUCTION, ...more]);
  for (const [run, exitCode, words] of [
    [await set('--value-name', 'gone'), 3, 'has no value named "gone". It declares'],
    [await set('--value-name', 'a', '--value', '1'), 2, 'cannot be used'],
    [await halyard([...VALUES, 'blue']), 2, 'Write name=json'],
    [await halyard([...VALUES, 'a=blue']), 2, `'a="blue"'`],
    [await halyard([...VALUES, '--remove', 'gone']), 3, 'no value named "gone"'],
    [await halyard([...VALUES, '--describe', 'x']), 2, 'name=json'],
  ] as const)
    expect(run).toMatchObject({ exitCode, out: '', err: expect.stringContaining(words) });
});
