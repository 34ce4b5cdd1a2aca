import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { type NodeProcess, startNode, temporaryFolder } from '@halyard/testing';
import { commandsAt } from './test-shell.ts';

const MAIN = join(import.meta.dir, '../main.ts');
const folder = temporaryFolder();
let node: NodeProcess;
const { halyard, seen } = commandsAt(() => node);

beforeAll(async () => {
  node = await startNode({ env: { HALYARD_DRAIN_SECONDS: '0' } });
  for (const name of ['shop', 'shipping']) await halyard(`project create ${name}`);
  for (const key of ['new-checkout', 'new-cart', 'banner'])
    await halyard(`flag set ${key} --project shop --env staging --on`);
  await Bun.write(folder.file('flags.yaml'), '');
}, 60_000);

afterAll(async () => {
  await node.stop();
  folder.remove();
}, 60_000);

/** What can follow, without what it is. */
async function after(line: string, env: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
  const { out } = await halyard(['complete', '--', ...line.split(' ')], { env });
  return out.split('\n').flatMap((each) => (each === '' ? [] : [each.split('\t')[0] ?? '']));
}

test.each([
  ['', expect.arrayContaining(['serve', 'flag', 'completion'])],
  ['fl', ['flag']],
  ['flag se', ['set']],
  ['flag set new-checkout --pro', ['--profile', '--project', '--propose']],
  ['flag set new-checkout --project s', ['shop', 'shipping'].sort()],
  ['flag set --project shop new-', ['new-cart', 'new-checkout']],
  ['flag set x --project shop --env ', ['development', 'staging', 'production']],
  ['environment update shop st', ['staging']],
  ['copy banner --project shop new-c', ['new-cart', 'new-checkout']],
  ['import --policy ', ['create-only', 'enforce']],
  ['completion ', ['bash', 'zsh', 'fish']],
  ['flag set x --project nowhere --env ', []],
  ['no-such-command ', []],
] as const)('after "%s"', async (line, expected) => {
  const found = await after(line);
  expect(Array.isArray(expected) ? found.toSorted() : found).toEqual(
    Array.isArray(expected) ? expected.toSorted() : expected,
  );
});

test('an option that is there already is not offered again, and an internal command never', async () => {
  expect(await after('flag set x --note why --no')).not.toContain('--note');
  expect(await after('')).not.toContain('complete');
  expect(await after('flag ')).not.toContain('create');
});

test('files are completed, and folders on the way to them', async () => {
  expect(await after(`import ${folder.file('fla')}`)).toEqual([folder.file('flags.yaml')]);
});

test('without an answer of the server there are no names, and no error', async () => {
  const env = { HALYARD_URL: 'http://127.0.0.1:1' };
  expect(await halyard('complete -- flag set x --project'.split(' ').concat(''), { env })).toEqual({
    exitCode: 0,
    out: '',
    err: '',
  });
});

test('bash completes by the script', async () => {
  const script = await seen('completion bash');
  const line = `halyard() { '${process.execPath}' '${MAIN}' "$@"; }
    ${script}
    COMP_WORDS=(halyard flag set --project shop new-c); COMP_CWORD=5; _halyard; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const env = { ...process.env, HALYARD_URL: node.url, HALYARD_TOKEN: node.adminToken };
  const { stdout } = Bun.spawnSync(['bash', '-c', line], { env });
  expect(String(stdout).trim().split('\n').sort()).toEqual(['new-cart', 'new-checkout']);
});

describe('the manual page', () => {
  test('has every command and option', async () => {
    const page = await seen('man');
    expect(page).toContain('.SS halyard flag set <key>');
    expect(page).toContain('\\fB\\-\\-project\\fR \\fI<project>\\fR');
    expect(page).not.toMatch(/^\.SS halyard complete/m);
    // A line that begins with a dot is a request.
    expect(page.split('\n').filter((line) => /^[.'](?!TH|SH|SS|TP|PP|nf|fi|B |I )/.test(line))).toEqual([]);
  });
});

describe('HALYARD_PROJECT and HALYARD_ENV', () => {
  const env = { HALYARD_PROJECT: 'shop', HALYARD_ENV: 'staging' };

  test('stand for options that a command needs', async () => {
    const { exitCode, out } = await halyard('flag get banner', { env });
    expect([exitCode, JSON.parse(out).key]).toEqual([0, 'banner']);
    const { out: other } = await halyard('flag get banner --env production', { env });
    expect(other).toBe('');
  });

  test('do not narrow a command that needs no environment', async () => {
    const { exitCode, err } = await halyard('flag delete banner', { env });
    expect([exitCode, err]).toEqual([2, expect.stringContaining('from every environment of shop')]);
  });
});
