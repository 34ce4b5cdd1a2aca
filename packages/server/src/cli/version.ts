import type { Command } from 'commander';
import { VERSION } from '../version.ts';
import type { Shell } from './shell.ts';

/** `halyard version` */
export function defineVersion(program: Command, shell: Shell): void {
  program
    .command('version')
    .description('print the version of this program and of its runtime')
    .action(() => {
      shell.write(`halyard ${VERSION} (Bun ${Bun.version}, ${process.platform} ${process.arch})\n`);
    });
}
