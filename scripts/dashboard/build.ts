import { mkdir, rename, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { bundle } from './bundle.ts';
import { packAssets } from './pack.ts';
import { sourceDigest } from './source-digest.ts';

const DIST = join(import.meta.dir, '../../packages/dashboard/dist');
const PACK = join(DIST, 'dashboard.pack');
const STAMP = join(DIST, 'stamp');

/**
 * Builds the dashboard into one file, `packages/dashboard/dist/dashboard.pack`, which the server reads and the
 * executable carries. Does nothing when the sources are those of the last build. Rejects with an `AggregateError` of
 * what the bundler found.
 */
export async function buildDashboard(): Promise<void> {
  const digest = await sourceDigest();
  if ((await Bun.file(PACK).exists()) && (await readText(STAMP)) === digest) return;
  await mkdir(DIST, { recursive: true });
  await replaceFile(PACK, await packAssets(await bundle()));
  await replaceFile(STAMP, digest);
}

async function readText(path: string): Promise<string | undefined> {
  const file = Bun.file(path);
  return (await file.exists()) ? file.text() : undefined;
}

/** Written aside and moved, so that a server or a second build never sees half a file. */
async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const aside = join(DIST, `.${relative(DIST, path)}.${process.pid}`);
  try {
    await Bun.write(aside, content);
    await rename(aside, path);
  } finally {
    await rm(aside, { force: true });
  }
}
