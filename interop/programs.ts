import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE, type Language, toolEnvironment } from './languages.ts';

/** Where a prepared program is, and its environment. */
export interface PreparedProgram {
  readonly cwd: string;
  readonly env: Record<string, string>;
}

/**
 * Installs and builds a program, in a copy of its folder or where its source is. Gives how to start it, or why it cannot be.
 */
export async function prepare({
  folder,
  source,
  needs,
  install,
  build,
}: Pick<Language, 'folder' | 'source' | 'needs' | 'install' | 'build'>): Promise<PreparedProgram | string> {
  const missing = needs.find((command) => Bun.which(command) === null);
  if (missing !== undefined) return `${missing} is not on this machine`;

  // Programs without packages of their own use those of the repository.
  const own = source ?? join(import.meta.dir, folder);
  const cwd = source === undefined && install.length > 0 ? join(CACHE, folder) : own;
  mkdirSync(CACHE, { recursive: true });
  if (cwd !== own) cpSync(own, cwd, { recursive: true });

  const program = { cwd, env: toolEnvironment() };
  for (const command of install) {
    const { ok, text } = await run(command, program);
    if (!ok) return `${command.join(' ')} failed: ${firstLine(text)}`;
  }
  for (const command of build) {
    const { ok, text } = await run(command, program);
    if (!ok) throw new Error(`${folder} does not compile:\n${text}`);
  }
  return program;
}

/** Runs a command to its end. `text` is all that it wrote. */
export async function run(
  command: readonly string[],
  { cwd, env }: PreparedProgram,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  const child = Bun.spawn([...command], { cwd, env, stdout: 'pipe', stderr: 'pipe' });
  const [out, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { ok: (await child.exited) === 0, text: out + errors };
}

function firstLine(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return (lines.find((line) => /error|not|refused|forbidden/i.test(line)) ?? lines[0] ?? 'no output').trim();
}
