import { rm } from 'node:fs/promises';
import { basename } from 'node:path';

/** What a signature is for: `ssh-keygen` refuses one that was made for something else. */
const NAMESPACE = 'halyard-release';

/** Signs a file with an SSH key, as `<file>.sig` beside it. Rejects when that is not possible, as with a key that wants a password. */
export async function signFile(path: string, key: string): Promise<void> {
  await rm(`${path}.sig`, { force: true });
  const command = ['ssh-keygen', '-Y', 'sign', '-n', NAMESPACE, '-f', key, path];
  const signer = Bun.spawnSync(command, { stdin: 'inherit', stdout: 'ignore', stderr: 'pipe' });
  if (signer.exitCode !== 0) throw new Error(`${basename(path)} cannot be signed:\n${signer.stderr}`);
}
