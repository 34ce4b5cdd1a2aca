import type { Command } from 'commander';
import { apiPath } from './api-client.ts';
import { usageError } from './cli-error.ts';
import type { Fields } from './fields.ts';
import { addStateOptions, describePatch, describeState, patchBody, type StateOptions } from './flag-state.ts';
import { addConnectionOptions, type CommandOptions, connect, NOTE_HELP, parseFutureTime } from './options.ts';
import { printAnswer, printDone, printList, shortTime } from './output.ts';
import type { Shell } from './shell.ts';

interface CreateOptions extends CommandOptions, StateOptions {
  readonly project: string;
  readonly env: string;
  readonly at: string;
  readonly remove?: boolean;
  readonly anyway?: boolean;
  readonly note?: string;
}

interface ListOptions extends CommandOptions {
  readonly project: string;
  readonly env?: string;
  readonly all?: boolean;
}

/** `halyard schedule create|list|cancel` */
export function defineSchedule(schedule: Command, shell: Shell): void {
  addConnectionOptions(
    addStateOptions(
      schedule
        .command('create <key>')
        .description(
          'Schedule a change of a flag in one environment. Options you leave out keep the value they have then.',
        )
        .requiredOption('--project <project>', 'Project of the flag')
        .requiredOption('--env <environment>', 'Environment to change')
        .requiredOption(
          '--at <when>',
          'Time of the change: 90m, 12h, 30d or 4w from now, or 2027-01-31T09:00:00Z',
        ),
    )
      .option('--remove', 'Delete the flag from the environment')
      .option(
        '--anyway',
        'Schedule it even if the flag has a rollout plan there, which the change will pause',
      )
      .option('--note <text>', NOTE_HELP)
      .addHelpText('after', EXAMPLES),
  ).action((key: string, options: CreateOptions) => createSchedule(shell, key, options));
  addConnectionOptions(
    schedule
      .command('list')
      .description('List the scheduled changes of a project, the next one first.')
      .requiredOption('--project <project>', 'Project to list')
      .option('--env <environment>', 'List this environment only')
      .option('--all', 'Include changes that are done, canceled or failed'),
  ).action((options: ListOptions) => listSchedules(shell, options));
  addConnectionOptions(
    schedule
      .command('cancel <id>')
      .description('Cancel a scheduled change.')
      .requiredOption('--project <project>', 'Project of the change')
      .addHelpText('after', '\nRun "halyard schedule list" to see the ids.'),
  ).action(async (id: string, options: ListOptions) => {
    const path = apiPath`/projects/${options.project}/schedules/${id}`;
    const answer = await connect(shell, options).request({ method: 'DELETE', path });
    printDone(shell, options, `Canceled schedule ${id}.`, answer.text);
  });
}

const EXAMPLES = `
Examples:
  halyard schedule create new-checkout --project shop --env production --at 2027-01-31T09:00:00Z --on
  halyard schedule create banner --project shop --env production --at 12h --off --note "sale is over"`;

async function createSchedule(shell: Shell, key: string, options: CreateOptions): Promise<void> {
  const dueAt = parseFutureTime(options.at, shell.now(), '--at');
  const { project, env: environment, note, anyway } = options;
  const head = JSON.stringify({ environment, dueAt, note, anyway }).slice(0, -1);
  const step = options.remove ? `"state":${removal(options)}` : `"patch":${patchBody(options)}`;
  // Joined as text, because the patch holds a value exactly as it was written.
  const body = `${head},"changes":[{"key":${JSON.stringify(key)},${step}}]}`;
  const path = apiPath`/projects/${project}/schedules`;
  const answer = await connect(shell, options).request({ method: 'POST', path, body });
  printAnswer(shell, options, answer, (fields) => {
    const place = `${key} in ${environment} of ${project}`;
    return `Scheduled a change of ${place} for ${shortTime(dueAt)} (schedule ${fields.text('id')}).\n`;
  });
}

function removal({ on, off, value, rollout }: StateOptions): 'null' {
  if (!on && !off && value === undefined && rollout === undefined) return 'null';
  throw usageError('--remove cannot be used with --on, --off, --value or --rollout.');
}

async function listSchedules(shell: Shell, options: ListOptions): Promise<void> {
  const path = apiPath`/projects/${options.project}/schedules`;
  const query = { environment: options.env, status: options.all ? undefined : 'pending' };
  const answer = await connect(shell, options).request({ path, query });
  await printList(shell, options, [answer], {
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
    empty:
      `No ${options.all ? 'scheduled' : 'pending'} changes in ${options.project}. ` +
      'Create one with "halyard schedule create <key> --at <when> ..."' +
      (options.all ? '.' : ', or add --all to see those that are done, canceled or failed.'),
  });
}

/** The whole new state, or the parts that change. */
function describeScheduled(change: Fields): string {
  const state = change.any('state');
  if (state !== undefined) return state === null ? 'remove' : describeState(state);
  return describePatch(change.fields('patch'));
}

function statusOf(item: Fields): string {
  const status = item.text('status') === 'cancelled' ? 'canceled' : item.text('status');
  const seq = item.any('seq');
  return seq === undefined ? status : `${status} (change ${seq})`;
}
