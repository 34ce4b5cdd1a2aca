import type { Command } from 'commander';
import { apiPath } from './api-client.ts';
import { requireYes } from './confirmation.ts';
import { addConnectionOptions, type CommandOptions, connect } from './connection-options.ts';
import { noteHeader } from './note-header.ts';
import { printAnswer, printDone } from './output.ts';
import type { Shell } from './shell.ts';

interface ArchiveOptions extends CommandOptions {
  readonly project: string;
  readonly note?: string;
}

interface DeleteOptions extends ArchiveOptions {
  readonly env?: string;
  readonly yes?: boolean;
}

/** `halyard flag archive|restore|delete` */
export function defineFlagArchive(flag: Command, shell: Shell): void {
  const add = (usage: string, description: string) =>
    addConnectionOptions(
      flag
        .command(usage)
        .description(description)
        .requiredOption('--project <project>', 'the project')
        .option('--note <why>', 'why; kept in the audit log'),
    );
  add(
    'archive <key>',
    'Take a flag out of use in every environment. Its readers get their defaults; its states are kept aside.',
  ).action(async (key: string, options: ArchiveOptions) => {
    const path = apiPath`/projects/${options.project}/flags/${key}/archive`;
    const headers = noteHeader(options.note);
    const answer = await connect(shell, options).request({ method: 'POST', path, headers });
    printAnswer(shell, options, answer, () => `${key} of ${options.project} is archived.\n`);
  });
  add('restore <key>', 'Take an archived flag into use again, with the states it had.').action(
    async (key: string, options: ArchiveOptions) => {
      const path = apiPath`/projects/${options.project}/flags/${key}/restore`;
      const headers = noteHeader(options.note);
      const answer = await connect(shell, options).request({ method: 'POST', path, headers });
      printAnswer(shell, options, answer, (fields) => {
        const places = fields.fields('environments').names;
        const where = places.length === 0 ? 'no environment' : places.join(', ');
        return `${key} of ${options.project} is in use again, in ${where}.\n`;
      });
    },
  );
  add('delete <key>', 'Delete a flag for good, or from one environment only. Its readers get their defaults.')
    .option('--env <environment>', 'from this environment only; elsewhere it stays')
    .option('--yes', 'yes, delete it everywhere and for good')
    .action((key: string, options: DeleteOptions) => deleteFlag(shell, key, options));
}

async function deleteFlag(shell: Shell, key: string, options: DeleteOptions): Promise<void> {
  const { project, env } = options;
  const headers = noteHeader(options.note);
  if (env !== undefined) {
    const path = apiPath`/projects/${project}/environments/${env}/flags/${key}`;
    const { text } = await connect(shell, options).request({ method: 'DELETE', path, headers });
    printDone(shell, options, `${key} was deleted from ${env} of ${project}.`, text);
    return;
  }
  requireYes(options, `Deleting ${key} removes it and its states from every environment of ${project}.`);
  const path = apiPath`/projects/${project}/flags/${key}`;
  const query = { archive: 'true' };
  const { text } = await connect(shell, options).request({ method: 'DELETE', path, query, headers });
  printDone(shell, options, `${key} was deleted from ${project}.`, text);
}
