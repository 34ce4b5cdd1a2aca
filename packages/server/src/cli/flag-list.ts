import type { Command } from 'commander';
import { apiPath } from './api-client.ts';
import { CliError, EXIT } from './cli-error.ts';
import { addConnectionOptions, type CommandOptions, connect } from './connection-options.ts';
import type { Fields } from './fields.ts';
import { printAnswer, printList, shortTime } from './output.ts';
import type { Shell } from './shell.ts';
import { describeState } from './state-text.ts';
import { formatTable } from './table.ts';

interface ListOptions extends CommandOptions {
  readonly project: string;
  readonly env?: string;
  readonly archived?: boolean;
}

/** `halyard flag list`: of one environment with their states, or of the project. */
export function defineFlagList(flag: Command, shell: Shell): void {
  addConnectionOptions(
    flag
      .command('list')
      .description('List the flags of one environment, or those of the whole project.')
      .requiredOption('--project <project>', 'the project')
      .option('--env <environment>', 'the environment; without it all of them side by side')
      .option('--archived', 'the archived flags of the project instead'),
  ).action(async (options: ListOptions) => {
    if (options.archived && options.env !== undefined) {
      throw new CliError('--archived is about the whole project: an archived flag is in no environment.', {
        exitCode: EXIT.usage,
      });
    }
    if (options.archived) await listArchived(shell, options);
    else if (options.env === undefined) await listEverywhere(shell, options);
    else await listStates(shell, { ...options, env: options.env });
  });
}

async function listStates(shell: Shell, options: ListOptions & { readonly env: string }): Promise<void> {
  const { project, env } = options;
  const path = apiPath`/projects/${project}/environments/${env}/flags`;
  printList(shell, options, await connect(shell, options).request({ path }), {
    member: 'flags',
    headings: ['FLAG', 'STATE', 'REVISION', 'CHANGED'],
    row: (item) => [
      item.text('key'),
      describeState(item.any('state')),
      `${item.number('revision')}`,
      shortTime(item.optionalText('updatedAt')),
    ],
    empty: `${env} of ${project} has no flag. Make one: halyard flag set <key> --on …`,
  });
}

async function listEverywhere(shell: Shell, options: ListOptions): Promise<void> {
  const { project } = options;
  const client = connect(shell, options);
  const answer = await client.request({ path: apiPath`/projects/${project}/flags` });
  const environments = (await client.request({ path: apiPath`/projects/${project}/environments` })).fields
    .list('environments')
    .map((environment) => environment.text('name'));
  printAnswer(shell, options, answer, (fields) => {
    const flags = fields.list('flags');
    if (flags.length === 0) return `${project} has no flag. Make one: halyard flag set <key> --on …\n`;
    const headings = ['FLAG', ...environments.map((name) => name.toUpperCase()), 'OWNER', 'TAGS'];
    return formatTable(
      headings,
      flags.map((item) => [
        item.text('key'),
        ...environments.map((name) => stateIn(item.fields('environments'), name)),
        item.text('owner'),
        item.texts('tags').join(', '),
      ]),
    );
  });
}

function stateIn(states: Fields, environment: string): string {
  return states.any(environment) === undefined ? '-' : describeState(states.fields(environment).any('state'));
}

async function listArchived(shell: Shell, options: ListOptions): Promise<void> {
  const { project } = options;
  const path = apiPath`/projects/${project}/flags`;
  printList(shell, options, await connect(shell, options).request({ path, query: { archived: 'true' } }), {
    member: 'flags',
    headings: ['FLAG', 'ARCHIVED', 'OWNER', 'DESCRIPTION'],
    row: (item) => [
      item.text('key'),
      shortTime(item.optionalText('archivedAt')),
      item.text('owner'),
      item.text('description'),
    ],
    empty: `${project} has no archived flag.`,
  });
}
