import { join } from 'node:path';

const ROOT = join(import.meta.dir, '../..');

/** Everything that the built dashboard depends on. */
const SOURCES = [
  'packages/dashboard/src/**/*',
  'packages/protocol/src/*.ts',
  'scripts/dashboard/*.ts',
  'bun.lock',
];

/** SHA-256 over the sources of the dashboard, in hex: equal while a build would give the same. */
export async function sourceDigest(): Promise<string> {
  const files = (await Promise.all(SOURCES.map(filesOf))).flat().sort();
  const hasher = new Bun.CryptoHasher('sha256');
  hasher.update(Bun.version);
  for (const file of files) {
    hasher.update(`\0${file}\0`);
    hasher.update(await Bun.file(join(ROOT, file)).bytes());
  }
  return hasher.digest('hex');
}

async function filesOf(pattern: string): Promise<string[]> {
  const found: string[] = [];
  for await (const file of new Bun.Glob(pattern).scan(ROOT)) found.push(file);
  return found;
}
