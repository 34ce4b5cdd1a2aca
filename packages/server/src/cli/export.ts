import { writeFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { apiPath } from './api-client.ts';
import { CliError } from './cli-error.ts';
import { addConnectionOptions, type CommandOptions, connect } from './connection-options.ts';
import type { Shell } from './shell.ts';

interface ExportOptions extends CommandOptions {
  readonly project: string;
  readonly format?: 'yaml' | 'json';
  readonly out?: string;
}

/** `halyard export` */
export function defineExport(program: Command, shell: Shell): void {
  addConnectionOptions(
    program
      .command('export')
      .description('Write a project with its environments and flags as one document, which "import" reads.')
      .requiredOption('--project <project>', 'the project')
      .addOption(
        new Option('--format <format>', 'yaml unless --json or a file name says otherwise').choices([
          'yaml',
          'json',
        ]),
      )
      .option('--out <file>', 'write to this file instead of standard output')
      .addHelpText('after', '\nExample:\n  halyard export --project shop --out flags.yaml'),
  ).action(async (options: ExportOptions) => {
    const format = options.format ?? (options.json || options.out?.endsWith('.json') ? 'json' : 'yaml');
    const path = apiPath`/projects/${options.project}/export`;
    const { text } = await connect(shell, options).request({ path, query: { format } });
    const document = text.endsWith('\n') ? text : `${text}\n`;
    if (options.out === undefined) return shell.write(document);
    await writeFile(options.out, document).catch((cause: unknown) => {
      throw new CliError(`${options.out} cannot be written: ${String(cause)}`, { cause });
    });
    shell.writeError(`Project ${options.project} was written to ${options.out}.\n`);
  });
}
