/**
 * Proves that a release is reproducible: makes one of the last commit in each of two clones, in folders of other names, and compares the
 * checksums. `bun scripts/release/twice.ts [options of run release]`. Takes twice as long as a release.
 */
import { join, resolve } from 'node:path';
import { temporaryFolder } from '@halyard/testing';

const ROOT = resolve(import.meta.dir, '../..');

async function makeIn(folder: string): Promise<string> {
  const clone = Bun.spawnSync(['git', 'clone', '--quiet', '--no-hardlinks', ROOT, folder], {
    stderr: 'inherit',
  });
  if (clone.exitCode !== 0) throw new Error('The repository cannot be cloned.');

  const words = [process.execPath, 'scripts/release/run.ts', ...process.argv.slice(2)];
  const install = Bun.spawnSync([process.execPath, 'install', '--frozen-lockfile', '--silent'], {
    cwd: folder,
  });
  const made = Bun.spawnSync(words, { cwd: folder, stdout: 'inherit', stderr: 'inherit' });
  if (install.exitCode !== 0 || made.exitCode !== 0) throw new Error(`There is no release in ${folder}.`);
  return Bun.file(join(folder, 'dist/release/SHA256SUMS')).text();
}

using parent = temporaryFolder();
const first = await makeIn(parent.file('one'));
const second = await makeIn(parent.file('another clone'));
const different = second.split('\n').filter((line) => !first.split('\n').includes(line));
if (different.length > 0 || first !== second) {
  process.stderr.write(`These files differ:\n${different.join('\n')}\n`);
  process.exit(1);
}
process.stdout.write(`\nBoth have the same bytes:\n${first}`);
