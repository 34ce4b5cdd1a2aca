import type { Command } from 'commander';
import { COMMIT, VERSION } from '../version.ts';
import { type OutputOptions, wantsJson } from './output.ts';
import type { Shell } from './shell.ts';

/** `halyard version` */
export function defineVersion(program: Command, shell: Shell): void {
  program
    .command('version')
    .description('Print the version and the commit of this program, and the version of its runtime.')
    .option('--json', 'write JSON, also on a terminal')
    .action((options: OutputOptions) => {
      const { platform, arch } = process;
      const facts = { version: VERSION, commit: COMMIT, bun: Bun.version, platform, arch };
      const build = COMMIT === undefined ? 'from source' : `commit ${COMMIT}`;
      const sentence = `halyard ${VERSION} (${build}, Bun ${Bun.version}, ${platform} ${arch})`;
      shell.write(`${wantsJson(shell, options) ? JSON.stringify(facts) : sentence}\n`);
    });
}
