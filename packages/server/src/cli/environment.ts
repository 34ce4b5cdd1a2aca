import type { Command } from 'commander';
import { apiPath } from './api-client.ts';
import { requireYes } from './confirmation.ts';
import { addConnectionOptions, type CommandOptions, connect } from './connection-options.ts';
import { printAnswer, printDone, printList, shortTime } from './output.ts';
import type { Shell } from './shell.ts';

/** `halyard environment create|list|delete` */
export function defineEnvironment(program: Command, shell: Shell): void {
  const environment = program
    .command('environment')
    .description('Make, list and delete environments of a project.');
  addConnectionOptions(
    environment
      .command('create <project> <environment>')
      .description('Make an environment. It begins without flags.')
      .addHelpText('after', '\nExample:\n  halyard environment create shop preview'),
  ).action(async (project: string, name: string, options: CommandOptions) => {
    const path = apiPath`/projects/${project}/environments`;
    const answer = await connect(shell, options).request({
      method: 'POST',
      path,
      body: JSON.stringify({ name }),
    });
    printAnswer(shell, options, answer, () => `Environment ${name} of ${project} was made.\n`);
  });
  addConnectionOptions(
    environment.command('list <project>').description('List the environments of a project.'),
  ).action(async (project: string, options: CommandOptions) => {
    const answer = await connect(shell, options).request({
      path: apiPath`/projects/${project}/environments`,
    });
    printList(shell, options, answer, {
      member: 'environments',
      headings: ['ENVIRONMENT', 'REVISION', 'CREATED'],
      row: (item) => [
        item.text('name'),
        `${item.number('revision')}`,
        shortTime(item.optionalText('createdAt')),
      ],
      empty: `Project ${project} has no environment. Make one: halyard environment create ${project} <environment>`,
    });
  });
  addConnectionOptions(
    environment
      .command('delete <project> <environment>')
      .description(
        'Delete an environment with the state of its flags. Its streams end and its readers get 404.',
      )
      .option('--yes', 'yes, delete it: there is no way back')
      .addHelpText('after', '\nExample:\n  halyard environment delete shop preview --yes'),
  ).action(async (project: string, name: string, options: CommandOptions & { readonly yes?: boolean }) => {
    requireYes(options, `Deleting the environment ${name} deletes the state of all flags in it for good.`);
    const path = apiPath`/projects/${project}/environments/${name}`;
    await connect(shell, options).request({ method: 'DELETE', path });
    printDone(shell, options, `Environment ${name} of ${project} was deleted.`);
  });
}
