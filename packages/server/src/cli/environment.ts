import type { Command } from 'commander';
import { ENVIRONMENT_COLORS } from '../domain/project.ts';
import { apiPath } from './api-client.ts';
import { CliError, EXIT } from './cli-error.ts';
import { requireYes } from './confirmation.ts';
import { addConnectionOptions, type CommandOptions, connect } from './connection-options.ts';
import { printAnswer, printDone, printList, shortTime } from './output.ts';
import type { Shell } from './shell.ts';

interface UpdateOptions extends CommandOptions {
  readonly protect?: boolean;
  readonly color?: string;
  readonly position?: string;
}

/** `halyard environment create|list|update|delete` */
export function defineEnvironment(program: Command, shell: Shell): void {
  const environment = program
    .command('environment')
    .description('Make, list, change and delete environments of a project.');
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
      headings: ['ENVIRONMENT', 'REVISION', 'PROTECTED', 'CREATED'],
      row: (item) => [
        item.text('name'),
        `${item.number('revision')}`,
        item.boolean('protected') ? 'yes' : 'no',
        shortTime(item.optionalText('createdAt')),
      ],
      empty: `Project ${project} has no environment. Make one: halyard environment create ${project} <environment>`,
    });
  });
  addConnectionOptions(
    environment
      .command('update <project> <environment>')
      .description('Change whether an environment is protected, and how the dashboard shows it.')
      .option('--protect', 'changing its flags needs a permission, and a confirmation in the dashboard')
      .option('--no-protect', 'take that protection away')
      .option('--color <color>', `one of ${ENVIRONMENT_COLORS.join(', ')}`)
      .option('--position <n>', 'its place among the others, from 0')
      .addHelpText('after', '\nExample:\n  halyard environment update shop staging --protect --color violet'),
  ).action(async (project: string, name: string, options: UpdateOptions) => {
    const path = apiPath`/projects/${project}/environments/${name}`;
    const body = updateBody(options);
    const answer = await connect(shell, options).request({ method: 'PATCH', path, body });
    printAnswer(shell, options, answer, (fields) => {
      const guard = fields.boolean('protected') ? 'protected' : 'not protected';
      return `Environment ${name} of ${project} is ${guard}, ${fields.text('color')}.\n`;
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
    const { text } = await connect(shell, options).request({ method: 'DELETE', path });
    printDone(shell, options, `Environment ${name} of ${project} was deleted.`, text);
  });
}

function updateBody({ protect, color, position }: UpdateOptions): string {
  if (position !== undefined && !/^\d{1,4}$/.test(position)) {
    throw new CliError(`--position must be a whole number from 0, not "${position}".`, {
      exitCode: EXIT.usage,
    });
  }
  const place = position === undefined ? undefined : Number(position);
  if (protect === undefined && color === undefined && place === undefined) {
    throw new CliError('Nothing to change was given: add --protect, --no-protect, --color or --position.', {
      exitCode: EXIT.usage,
    });
  }
  return JSON.stringify({ protected: protect, color, position: place });
}
