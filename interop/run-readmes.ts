import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Management } from '@halyard/testing';
import { CACHE, toolEnvironment } from './languages.ts';
import { run } from './programs.ts';

const ROOT = join(import.meta.dir, '..');
/** The address in the pages. */
const ADDRESS = 'http://127.0.0.1:7070';

/**
 * Follows the README of a client in a new folder beside the repository: writes the files whose name is the first line of a block of
 * code, does the commands in their order, and compares what they print with what the page says. Rejects with what is wrong.
 */
export async function followReadme(
  client: string,
  { management, url, key }: { readonly management: Management; readonly url: string; readonly key: string },
): Promise<void> {
  const parent = join(CACHE, 'readmes', client);
  const folder = join(parent, 'hello');
  rmSync(parent, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  symlinkSync(ROOT, join(parent, 'halyard'));

  const readme = readFileSync(join(ROOT, client, 'README.md'), 'utf8');
  const prints = /prints `([^`]+)`/.exec(readme)?.[1];
  if (prints === undefined) throw new Error('its README does not say what the program prints');
  const files = readme.matchAll(/^```\w+\n(?:\/\/|#|<!--) (\S+\.\w+)(?: -->)?\n([\s\S]*?)^```$/gm);
  for (const [, name = '', text = ''] of files) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text.replaceAll(ADDRESS, url));
  }

  await management.putState('demo', 'development', 'dark-mode', { enabled: true });
  const env = { ...toolEnvironment(), HALYARD_KEY: key, HALYARD_URL: url };
  const script = commandsOf(readme).replaceAll('proj_live_…', key);
  const { ok, text } = await run(['sh', '-ec', script], { cwd: folder, env });
  if (!ok) throw new Error(`it failed:\n${text}`);
  if (!Bun.stripANSI(text).split('\n').includes(prints))
    throw new Error(`it should print ${prints}, and printed:\n${text}`);
}

/** The commands of a page. One that ends with `# in <folder>` is done in that folder of the repository. */
function commandsOf(readme: string): string {
  return [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
    .map(([, commands = '']) => commands)
    .join('')
    .replaceAll(
      /^(.*\S)\s+# in (\S+)$/gm,
      (_, command: string, at: string) => `(cd '${join(ROOT, at)}' && ${command})`,
    );
}
