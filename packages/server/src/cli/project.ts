import type { Command } from 'commander';
import { apiPath } from './api-client.ts';
import { usageError } from './cli-error.ts';
import { addConnectionOptions, type CommandOptions, connect, requireYes } from './options.ts';
import { printAnswer, printDone, printList, shortTime } from './output.ts';
import type { Shell } from './shell.ts';

interface UpdateOptions extends CommandOptions {
  readonly usage?: boolean;
}

/** `halyard project create|list|update|delete` */
export function defineProject(project: Command, shell: Shell): void {
  addConnectionOptions(
    project
      .command('create <project>')
      .description('Create a project with the environments development, staging and production.')
      .addHelpText('after', '\nExample:\n  halyard project create shop'),
  ).action(async (name: string, options: CommandOptions) => {
    const body = JSON.stringify({ name });
    const answer = await connect(shell, options).request({ method: 'POST', path: apiPath`/projects`, body });
    printAnswer(shell, options, answer, (fields) => {
      const environments = fields.list('environments').map((environment) => environment.text('name'));
      return `Created project ${name} with ${environments.join(', ')}.\n`;
    });
  });
  addConnectionOptions(project.command('list').description('List the projects.')).action(
    async (options: CommandOptions) => {
      await printList(shell, options, connect(shell, options).pages({ path: apiPath`/projects` }), {
        member: 'projects',
        headings: ['PROJECT', 'CREATED'],
        row: (item) => [item.text('name'), shortTime(item.optionalText('createdAt'))],
        empty: 'No projects. Create one with "halyard project create <project>".',
      });
    },
  );
  addConnectionOptions(
    project
      .command('update <project>')
      .description('Change whether the clients of a project report how often they read each flag.')
      .option('--usage', 'Ask clients to report reads, as counts without targeting keys')
      .option('--no-usage', 'Stop asking clients to report reads')
      .addHelpText('after', '\nExample:\n  halyard project update shop --usage'),
  ).action(async (name: string, options: UpdateOptions) => {
    const { usage } = options;
    if (usage === undefined) throw usageError('Nothing to change. Add --usage or --no-usage.');
    const path = apiPath`/projects/${name}`;
    const body = JSON.stringify({ usage });
    const answer = await connect(shell, options).request({ method: 'PATCH', path, body });
    const does = usage ? 'report reads' : 'do not report reads';
    printAnswer(shell, options, answer, () => `Updated project ${name}: its clients ${does}.\n`);
  });
  addConnectionOptions(
    project
      .command('delete <project>')
      .description(
        'Delete a project with its environments, flags and keys. Its applications get 401 from then on.',
      )
      .option('--yes', 'Confirm; a deleted project cannot be restored')
      .addHelpText('after', '\nExample:\n  halyard project delete shop --yes'),
  ).action(async (name: string, options: CommandOptions & { readonly yes?: boolean }) => {
    requireYes(options, `This permanently deletes project ${name} with its environments, flags and keys.`);
    const path = apiPath`/projects/${name}`;
    const { text } = await connect(shell, options).request({ method: 'DELETE', path });
    printDone(shell, options, `Deleted project ${name}.`, text);
  });
}
