import { beforeAll, expect, test } from 'bun:test';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { temporaryFolder } from '@halyard/testing';
import { buildExecutable } from './build-executable.ts';

const ROOT = join(import.meta.dir, '..');
const TIMEOUT_MS = 60_000;
const executable = temporaryFolder().file('halyard');
/** The first line of the program asks for `bun`, whatever the file of the one that runs these tests is called. */
const runtime = temporaryFolder();

beforeAll(async () => {
  symlinkSync(process.execPath, runtime.file('bun'));
  await buildExecutable(executable);
}, TIMEOUT_MS);

/** Fills a folder as a cloned repository may be: with code that Bun would run and settings that it would read. */
function fillUntrusted(folder: string): void {
  writeFileSync(join(folder, 'bunfig.toml'), 'preload = ["./preload.ts"]');
  writeFileSync(join(folder, 'preload.ts'), 'console.error("PRELOADED");');
  writeFileSync(join(folder, '.env'), 'HALYARD_URL=http://from-dotenv.invalid');
}

/** Runs `halyard doctor` in the folder: it names the server that it would ask. */
function doctorIn(folder: string, command: readonly string[]): string {
  const PATH = [runtime.path, process.env.PATH].join(delimiter);
  const env = { PATH, HALYARD_PORT: '1' };
  const { stdout, stderr } = Bun.spawnSync([...command, 'doctor', '--json'], { cwd: folder, env });
  return `${stdout}${stderr}`;
}

test.each([
  ['the executable', () => [executable]],
  ['the program that npm installs', () => [join(ROOT, 'node_modules/.bin/halyard')]],
])(
  '%s runs no code from the current folder and takes no setting from it',
  (_, command) => {
    using folder = temporaryFolder();
    fillUntrusted(folder.path);
    const output = doctorIn(folder.path, command());
    expect(output).toContain('http://127.0.0.1:1');
    expect(output).not.toContain('PRELOADED');
  },
  TIMEOUT_MS,
);

test('`bun run halyard` takes no setting from the repository, and runs no code of a folder in it', () => {
  using repository = temporaryFolder();
  for (const name of ['package.json', 'bunfig.toml']) copyFileSync(join(ROOT, name), repository.file(name));
  for (const name of ['packages', 'node_modules']) symlinkSync(join(ROOT, name), repository.file(name));
  writeFileSync(repository.file('.env'), 'HALYARD_URL=http://from-dotenv.invalid');
  const folder = repository.file('untrusted');
  mkdirSync(folder);
  fillUntrusted(folder);
  for (const path of [repository.path, folder]) {
    const output = doctorIn(path, [process.execPath, 'run', 'halyard']);
    expect(output).toContain('http://127.0.0.1:1');
    expect(output).not.toContain('PRELOADED');
  }
});
