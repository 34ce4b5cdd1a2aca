import type { Command } from 'commander';
import { ENVIRONMENT_COLORS } from '../domain/project.ts';
import { apiPath } from './api-client.ts';
import { usageError } from './cli-error.ts';
import { addConnectionOptions, type CommandOptions, connect, requireYes } from './options.ts';
import { printAnswer, printDone, printList, shortTime } from './output.ts';
import type { Shell } from './shell.ts';

interface UpdateOptions extends CommandOptions {
  readonly protect?: boolean;
  readonly color?: string;
  readonly position?: string;
}

/** `halyard environment create|list|update|delete` */
export function defineEnvironment(environment: Command, shell: Shell): void {
  addConnectionOptions(
    environment
      .command('create <project> <environment>')
      .description('Create an environment without flags.')
      .addHelpText('after', '\nExample:\n  halyard environment create shop preview'),
  ).action(async (project: string, name: string, options: CommandOptions) => {
    const path = apiPath`/projects/${project}/environments`;
    const body = JSON.stringify({ name });
    const answer = await connect(shell, options).request({ method: 'POST', path, body });
    printAnswer(shell, options, answer, () => `Created environment ${name} of ${project}.\n`);
  });
  addConnectionOptions(
    environment.command('list <project>').description('List the environments of a project.'),
  ).action(async (project: string, options: CommandOptions) => {
    const path = apiPath`/projects/${project}/environments`;
    await printList(shell, options, connect(shell, options).pages({ path }), {
      member: 'environments',
      headings: ['ENVIRONMENT', 'REVISION', 'PROTECTED', 'CREATED'],
      row: (item) => [
        item.text('name'),
        `${item.number('revision')}`,
        item.boolean('protected') ? 'yes' : 'no',
        shortTime(item.optionalText('createdAt')),
      ],
      empty: `No environments in ${project}. Create one with "halyard environment create ${project} <environment>".`,
    });
  });
  addConnectionOptions(
    environment
      .command('update <project> <environment>')
      .description('Change the protection of an environment and its appearance in the dashboard.')
      .option('--protect', 'Require a permission to change its flags, and confirmation in the dashboard')
      .option('--no-protect', 'Remove the protection')
      .option('--color <color>', `Set the color: ${ENVIRONMENT_COLORS.join(', ')}`)
      .option('--position <n>', 'Set the position among the environments, from 0')
      .addHelpText('after', '\nExample:\n  halyard environment update shop staging --protect --color violet'),
  ).action(async (project: string, name: string, options: UpdateOptions) => {
    const path = apiPath`/projects/${project}/environments/${name}`;
    const body = updateBody(options);
    const answer = await connect(shell, options).request({ method: 'PATCH', path, body });
    printAnswer(shell, options, answer, (fields) => {
      const protection = fields.boolean('protected') ? 'protected' : 'not protected';
      return `Updated environment ${name} of ${project}: ${protection}, ${fields.text('color')}.\n`;
    });
  });
  addConnectionOptions(
    environment
      .command('delete <project> <environment>')
      .description(
        'Delete an environment and its flag states. Its streams close and its applications get 404.',
      )
      .option('--yes', 'Confirm; a deleted environment cannot be restored')
      .addHelpText('after', '\nExample:\n  halyard environment delete shop preview --yes'),
  ).action(async (project: string, name: string, options: CommandOptions & { readonly yes?: boolean }) => {
    requireYes(options, `This permanently deletes environment ${name} and all flag states in it.`);
    const path = apiPath`/projects/${project}/environments/${name}`;
    const { text } = await connect(shell, options).request({ method: 'DELETE', path });
    printDone(shell, options, `Deleted environment ${name} of ${project}.`, text);
  });
}

function updateBody({ protect, color, position }: UpdateOptions): string {
  if (position !== undefined && !/^\d{1,4}$/.test(position)) {
    throw usageError(`--position must be a whole number from 0, not "${position}".`);
  }
  const body = JSON.stringify({
    protected: protect,
    color,
    position: position === undefined ? undefined : Number(position),
  });
  if (body !== '{}') return body;
  throw usageError('Nothing to change. Add --protect, --no-protect, --color or --position.');
}
