import { writeFile } from 'node:fs/promises';
import type { Json } from '@halyard/protocol';
import type { Command } from 'commander';
import { apiPath } from './api-client.ts';
import { CliError } from './cli-error.ts';
import { addConnectionOptions, type CommandOptions, connect } from './connection-options.ts';
import { Fields } from './fields.ts';
import type { Shell } from './shell.ts';
import { formatTypesFile, type TypedFlag } from './types-file.ts';

interface TypesOptions extends CommandOptions {
  readonly project: string;
  readonly out?: string;
  readonly openfeature?: boolean;
}

/** `halyard types` */
export function defineTypes(program: Command, shell: Shell): void {
  addConnectionOptions(
    program
      .command('types')
      .description(
        'Write the flags of a project as a TypeScript declaration file: a misspelt or deleted flag no longer compiles.',
      )
      .requiredOption('--project <project>', 'the project')
      .option('--out <file>', 'write to this file instead of standard output')
      .option(
        '--openfeature',
        'also type the keys of OpenFeature; needs "skipLibCheck": true in tsconfig.json',
      )
      .addHelpText('after', '\nExample:\n  halyard types --project shop --out flags.d.ts'),
  ).action(async ({ out, openfeature = false, ...options }: TypesOptions) => {
    const path = apiPath`/projects/${options.project}/flags`;
    const { text } = await connect(shell, options).request({ path });
    const flags = new Fields(JSON.parse(text)).list('flags').map(typedFlag);
    const declarations = formatTypesFile(options.project, flags, { openFeature: openfeature });
    if (out === undefined) return shell.write(declarations);
    await writeFile(out, declarations).catch((cause: unknown) => {
      throw new CliError(`${out} cannot be written: ${String(cause)}`, { cause });
    });
    shell.writeError(`${flags.length} flags of project ${options.project} were written to ${out}.\n`);
  });
}

function typedFlag(flag: Fields): TypedFlag {
  const environments = flag.fields('environments');
  const values = environments.names
    .map((name) => environments.fields(name).fields('state').any('value'))
    // `Json`: all of it came out of JSON.parse.
    .filter((value) => value !== undefined) as Json[];
  return { key: flag.text('key'), description: flag.text('description'), values };
}
