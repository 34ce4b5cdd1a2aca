import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buildDashboard } from './dashboard/build.ts';

const ENTRY = join(import.meta.dir, '../packages/server/src/main.ts');

/** The platforms that Halyard is built for, on any machine. */
export const TARGETS = ['bun-linux-x64', 'bun-linux-arm64', 'bun-darwin-x64', 'bun-darwin-arm64'] as const;

/** One of {@link TARGETS}. */
export type Target = (typeof TARGETS)[number];

/**
 * Builds the one executable file for a platform, by default this machine's: runtime, service, command line, dashboard and
 * documentation. Rejects with an `AggregateError` of what the bundler found.
 *
 * With bytecode the program need not be parsed at each start, for 5 MB more; and in parts, a command reads its own code
 * only: together `halyard version` takes an eighth of the processor time. Names are kept, and the source maps are
 * embedded, so that a stack in a log can be read.
 */
export async function buildExecutable(outfile: string, target?: Target): Promise<void> {
  await buildDashboard();
  const commit = currentCommit();
  const result = await Bun.build({
    entrypoints: [ENTRY],
    target: 'bun',
    format: 'esm',
    bytecode: true,
    splitting: true,
    minify: { whitespace: true, syntax: true },
    sourcemap: 'inline',
    define: {
      // Otherwise packages get the folder they had on the machine that builds.
      __dirname: '"/$bunfs/root"',
      ...(commit === undefined ? {} : { HALYARD_COMMIT: JSON.stringify(commit) }),
    },
    compile: {
      outfile,
      ...(target !== undefined && { target }),
      // It holds tokens and is typed in cloned repositories: a folder must not give it settings or code.
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
  });

  if (!result.success) throw new AggregateError(result.logs, 'the build failed');
  // The bundler leaves copies of the embedded maps beside the executable.
  for (const { kind, path } of result.outputs) if (kind === 'sourcemap') await rm(path, { force: true });
}

/** Given by the environment where the build has no repository, as in an image; `undefined` if unknown. */
function currentCommit(): string | undefined {
  if (process.env.HALYARD_COMMIT) return process.env.HALYARD_COMMIT;
  if (Bun.which('git') === null) return undefined;
  const git = Bun.spawnSync(['git', 'describe', '--always', '--dirty', '--abbrev=12', '--exclude=*'], {
    cwd: import.meta.dir,
  });
  return git.exitCode === 0 ? String(git.stdout).trim() : undefined;
}
