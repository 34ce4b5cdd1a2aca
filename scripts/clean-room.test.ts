import { beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { temporaryFolder } from '@halyard/testing';

const SCRIPT = join(import.meta.dir, 'clean-room.sh');

const folder = temporaryFolder();
/** Where the clean room itself is made. */
const outside = temporaryFolder();

beforeAll(async () => {
  await Bun.write(folder.file('tracked.txt'), 'tracked');
  await Bun.write(folder.file('.gitignore'), 'ignored/\nnode_modules/\ndist/\n');
  await Bun.$`git init --quiet && git add --all`.cwd(folder.path).quiet();
  await Bun.write(folder.file('ignored/x.txt'), 'ignored');
});

test('runs the command in a copy, in a path with a space, with an empty home', async () => {
  const { exitCode, output } = await inCleanRoom(
    'pwd; ls -A; ls -A "$HOME" "$TMPDIR"; echo x > "$TMPDIR/x"; mkdir -p node_modules packages/a/dist',
  );
  expect(output).toMatch(/^\/.+ .+\n\.git\n\.gitignore\ntracked\.txt\n\/.+\/home:\n\n\/.+\/tmp:\n$/);
  expect(exitCode).toBe(0);
});

test('gives the command a bare environment and the settings of its package registry', async () => {
  const { output } = await inCleanRoom('env | cut -d= -f1', {
    HALYARD_PORT: '1',
    XDG_CACHE_HOME: '/x',
    FONTCONFIG_PATH: '/x',
    npm_config_cache: '/x',
    NPM_CONFIG_REGISTRY: 'http://127.0.0.1:1',
    https_proxy: 'http://127.0.0.1:1',
  });
  const own = ['PWD', 'OLDPWD', 'SHLVL', '_'];
  const inherited = /^(npm_config_.*|.*_proxy|ssl_cert_.*|node_extra_ca_certs)$/i;
  const names = output.trim().split('\n');
  expect(names).toContain('NPM_CONFIG_REGISTRY');
  expect(names).toContain('https_proxy');
  expect(names.filter((name) => !own.includes(name) && !inherited.test(name)).sort()).toEqual([
    'CI',
    'HOME',
    'LANG',
    'PATH',
    'TERM',
    'TMPDIR',
    'USER',
  ]);
  expect(names).not.toContain('npm_config_cache');
});

test.each([
  ['a process', 'sleep 600 &', 'sleep 600'],
  ['a file outside the temporary folder', 'echo x > "$HOME/leak.txt"', 'leak.txt'],
  ['a file outside the temporary folder', 'echo x > "$TMPDIR/../leak.txt"', 'leak.txt'],
  ['a change in the work tree', 'echo x > tracked.txt', ' M tracked.txt'],
  ['a change in the work tree', 'echo x > leak.txt', '?? leak.txt'],
  ['a change in the work tree', 'mkdir ignored; echo x > ignored/leak.txt', '!! ignored/'],
])(
  '%s that is left behind makes it fail: %s',
  async (what, command, named) => {
    const { exitCode, output } = await inCleanRoom(command);
    expect(output).toContain(`clean room: the command left ${what} behind:\n`);
    expect(output).toContain(named);
    expect(exitCode).toBe(1);
  },
  60_000,
);

test("fails with the command's exit code, and leaves nothing behind", async () => {
  const { exitCode, output } = await inCleanRoom('exit 3');
  expect(output).toBe('clean room: the command failed with exit code 3\n');
  expect(exitCode).toBe(3);
  expect([...new Bun.Glob('**').scanSync({ cwd: outside.path, onlyFiles: false })]).toEqual([]);
});

async function inCleanRoom(
  command: string,
  env: Record<string, string> = {},
): Promise<{ exitCode: number; output: string }> {
  const program = Bun.spawn(['bash', SCRIPT, 'bash', '-c', command], {
    cwd: folder.path,
    env: { ...process.env, TMPDIR: outside.path, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const output = await new Response(program.stdout).text();
  // Only where there are no namespaces.
  const [first = '', ...others] = output.split(/(?<=\n)/);
  const hint = 'clean room: this machine allows no namespaces';
  return { exitCode: await program.exited, output: first.startsWith(hint) ? others.join('') : output };
}
