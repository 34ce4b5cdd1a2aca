import type { Command } from 'commander';
import { apiPath } from './api-client.ts';
import { requireYes } from './confirmation.ts';
import { addConnectionOptions, type CommandOptions, connect } from './connection-options.ts';
import { printAnswer, printDone, printList, shortTime } from './output.ts';
import type { Shell } from './shell.ts';

/** `halyard project create|list|delete` */
export function defineProject(program: Command, shell: Shell): void {
  const project = program.command('project').description('Make, list and delete projects.');
  addConnectionOptions(
    project
      .command('create <project>')
      .description('Make a project with the environments development, staging and production.')
      .addHelpText('after', '\nExample:\n  halyard project create shop'),
  ).action(async (name: string, options: CommandOptions) => {
    const body = JSON.stringify({ name });
    const answer = await connect(shell, options).request({ method: 'POST', path: apiPath`/projects`, body });
    printAnswer(shell, options, answer, (fields) => {
      const environments = fields.list('environments').map((environment) => environment.text('name'));
      return `Project ${name} was made, with ${environments.join(', ')}.\n`;
    });
  });
  addConnectionOptions(project.command('list').description('List the projects.')).action(
    async (options: CommandOptions) => {
      const answer = await connect(shell, options).request({ path: apiPath`/projects` });
      printList(shell, options, answer, {
        member: 'projects',
        headings: ['PROJECT', 'CREATED'],
        row: (item) => [item.text('name'), shortTime(item.optionalText('createdAt'))],
        empty: 'There is no project yet. Make one: halyard project create <project>',
      });
    },
  );
  addConnectionOptions(
    project
      .command('delete <project>')
      .description(
        'Delete a project with its environments, flags and keys. Its readers get 401 from then on.',
      )
      .option('--yes', 'yes, delete it: there is no way back')
      .addHelpText('after', '\nExample:\n  halyard project delete shop --yes'),
  ).action(async (name: string, options: CommandOptions & { readonly yes?: boolean }) => {
    requireYes(options, `Deleting the project ${name} deletes its environments, flags and keys for good.`);
    const path = apiPath`/projects/${name}`;
    const { text } = await connect(shell, options).request({ method: 'DELETE', path });
    printDone(shell, options, `Project ${name} was deleted.`, text);
  });
}
