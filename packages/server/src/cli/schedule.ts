import type { Command } from 'commander';
import { apiPath } from './api-client.ts';
import { CliError, EXIT } from './cli-error.ts';
import { addConnectionOptions, type CommandOptions, connect } from './connection-options.ts';
import { parseExpiry } from './expiry.ts';
import type { Fields } from './fields.ts';
import { patchBody, type StateOptions } from './flag-options.ts';
import { printAnswer, printDone, printList, shortTime } from './output.ts';
import type { Shell } from './shell.ts';
import { describePatch, describeState } from './state-text.ts';

interface CreateOptions extends CommandOptions, StateOptions {
  readonly project: string;
  readonly env: string;
  readonly at: string;
  readonly remove?: boolean;
  readonly note?: string;
}

interface ListOptions extends CommandOptions {
  readonly project: string;
  readonly env?: string;
  readonly all?: boolean;
}

/** `halyard schedule create|list|cancel` */
export function defineSchedule(program: Command, shell: Shell): void {
  const schedule = program
    .command('schedule')
    .description('Make a change of a flag at a later time; list and cancel such changes.');
  addConnectionOptions(
    schedule
      .command('create <key>')
      .description('Change a flag in one environment at a later time. What is not said stays as it is then.')
      .requiredOption('--project <project>', 'the project')
      .requiredOption('--env <environment>', 'the environment')
      .requiredOption('--at <when>', 'when: 90m, 12h, 30d or 4w from now, or 2027-01-31T09:00:00Z')
      .option('--on', 'switch it on')
      .option('--off', 'switch it off')
      .option('--value <json>', 'give it a value: any JSON')
      .option('--no-value', 'take its value away')
      .option('--rollout <percent>', 'while it is on, only for this share of targeting keys: 0 to 100')
      .option('--no-rollout', 'remove the rollout: while it is on, on for everyone')
      .option('--remove', 'remove it from the environment')
      .option('--note <why>', 'why; kept with the change when it is made')
      .addHelpText('after', EXAMPLE),
  ).action(async (key: string, options: CreateOptions) => {
    const dueAt = parseExpiry(options.at, shell.now(), '--at');
    const { project, env: environment, note } = options;
    const head = JSON.stringify({ environment, dueAt, note }).slice(0, -1);
    const step = options.remove ? `"state":${removal(options)}` : `"patch":${patchBody(options)}`;
    const body = `${head},"changes":[{"key":${JSON.stringify(key)},${step}}]}`;
    const path = apiPath`/projects/${project}/schedules`;
    const answer = await connect(shell, options).request({ method: 'POST', path, body });
    printAnswer(
      shell,
      options,
      answer,
      (fields) =>
        `${key} in ${environment} of ${project} will be changed at ${shortTime(dueAt)} (schedule ${fields.text('id')}).\n`,
    );
  });
  addConnectionOptions(
    schedule
      .command('list')
      .description('List the scheduled changes of a project, the next one first.')
      .requiredOption('--project <project>', 'the project')
      .option('--env <environment>', 'only in this environment')
      .option('--all', 'also those that were made, cancelled or failed'),
  ).action((options: ListOptions) => listSchedules(shell, options));
  addConnectionOptions(
    schedule
      .command('cancel <id>')
      .description('Cancel a scheduled change, named by its id.')
      .requiredOption('--project <project>', 'the project')
      .addHelpText('after', '\nThe ids are in "halyard schedule list".'),
  ).action(async (id: string, options: ListOptions) => {
    const path = apiPath`/projects/${options.project}/schedules/${id}`;
    const answer = await connect(shell, options).request({ method: 'DELETE', path });
    printDone(shell, options, `Schedule ${id} is cancelled.`, answer.text);
  });
}

const EXAMPLE = `
Examples:
  halyard schedule create new-checkout --project shop --env production --at 2027-01-31T09:00:00Z --on
  halyard schedule create banner --project shop --env production --at 12h --off --note "sale is over"`;

async function listSchedules(shell: Shell, options: ListOptions): Promise<void> {
  const path = apiPath`/projects/${options.project}/schedules`;
  const query = { environment: options.env, status: options.all ? undefined : 'pending' };
  const answer = await connect(shell, options).request({ path, query });
  printList(shell, options, answer, {
    member: 'schedules',
    headings: ['ID', 'DUE', 'ENVIRONMENT', 'CHANGE', 'BY', 'STATUS', 'NOTE'],
    row: (item) => [
      item.text('id'),
      shortTime(item.text('dueAt')),
      item.optionalText('environment') ?? '-',
      item
        .list('changes')
        .map((change) => `${change.text('key')}: ${describeScheduled(change)}`)
        .join('; '),
      item.text('createdBy'),
      statusOf(item),
      item.optionalText('error') ?? item.optionalText('note') ?? '',
    ],
    empty: `${options.project} has no scheduled change. Make one: halyard schedule create <key> --at <when> …`,
  });
}

/** The whole state, or the parts of it that change. */
function describeScheduled(change: Fields): string {
  const state = change.any('state');
  if (state !== undefined) return state === null ? 'remove' : describeState(state);
  return describePatch(change.fields('patch'));
}

function statusOf(item: Fields): string {
  const change = item.any('seq');
  return change === undefined ? item.text('status') : `${item.text('status')} (change ${change})`;
}

function removal(options: StateOptions): 'null' {
  const { on, off, value, rollout } = options;
  if (!on && !off && value === undefined && rollout === undefined) return 'null';
  throw new CliError('--remove leaves nothing that could be set: give it alone.', { exitCode: EXIT.usage });
}
