import { apiPath } from './api-client.ts';
import { usageError } from './cli-error.ts';
import { type CliCommand, command } from './command.ts';
import type { Fields } from './fields.ts';
import { describePatch, describeState, patchBody, STATE, type StateOptions } from './flag-state.ts';
import { NOTE, option, required, toggle, WISH } from './options.ts';
import { shortTime } from './output.ts';
import { parseFutureTime } from './times.ts';

/** `halyard schedule create|list|cancel` */
export const scheduleCommands: readonly CliCommand[] = [
  command({
    usage: 'create <key>',
    about:
      'Schedule a change of a flag in one environment. Options you leave out keep the value they have then.',
    options: {
      project: required('<project>', 'Project of the flag'),
      env: required('<environment>', 'Environment to change'),
      at: required('<when>', 'Time of the change: 90m, 12h, 30d or 4w from now, or 2027-01-31T09:00:00Z'),
      ...STATE,
      remove: toggle('Delete the flag from the environment'),
      anyway: toggle('Schedule it even if the flag has a rollout plan there, which the change will pause'),
      note: NOTE,
      ...WISH,
    },
    examples: [
      'halyard schedule create new-checkout --project shop --env production --at 2027-01-31T09:00:00Z --on',
      'halyard schedule create banner --project shop --env production --at 12h --off --note "sale is over"',
    ],
    request: ({ key, project, env: environment, at, note, anyway, remove, ...state }, shell) => {
      const dueAt = parseFutureTime(at, shell.now(), '--at');
      const head = JSON.stringify({ environment, dueAt, note, anyway }).slice(0, -1);
      const step = remove ? `"state":${removal(state)}` : `"patch":${patchBody(state)}`;
      return {
        method: 'POST',
        path: apiPath`/projects/${project}/schedules`,
        // Joined as text, because the patch holds a value exactly as it was written.
        note,
        body: `${head},"changes":[{"key":${JSON.stringify(key)},${step}}]}`,
      };
    },
    answer: (fields, { key, env, project }) => {
      const due = shortTime(fields.text('dueAt'));
      return `Scheduled a change of ${key} in ${env} of ${project} for ${due} (schedule ${fields.text('id')}).\n`;
    },
  }),
  command({
    usage: 'list',
    about: 'List the scheduled changes of a project, the next one first.',
    options: {
      project: required('<project>', 'Project to list'),
      env: option('<environment>', 'List this environment only'),
      all: toggle('Include changes that are done, canceled or failed'),
    },
    request: ({ project, env: environment, all }) => ({
      path: apiPath`/projects/${project}/schedules`,
      query: { environment, status: all ? undefined : 'pending' },
    }),
    list: {
      member: 'schedules',
      headings: ['ID', 'DUE', 'ENVIRONMENT', 'CHANGE', 'BY', 'STATUS', 'NOTE'],
      row: (item) => [
        item.text('id'),
        shortTime(item.text('dueAt')),
        item.optionalText('environment') ?? '-',
        item.list('changes').map(describeScheduled).join('; '),
        item.text('createdBy'),
        statusOf(item),
        item.optionalText('error') ?? item.optionalText('note') ?? '',
      ],
      empty: ({ project, all }) =>
        `No ${all ? 'scheduled' : 'pending'} changes in ${project}. ` +
        'Create one with "halyard schedule create <key> --at <when> ..."' +
        (all ? '.' : ', or add --all to see those that are done, canceled or failed.'),
    },
  }),
  command({
    usage: 'cancel <id>',
    about: 'Cancel a scheduled change.',
    options: { project: required('<project>', 'Project of the change') },
    help: 'Run "halyard schedule list" to see the ids.',
    request: ({ id, project }) => ({
      method: 'DELETE',
      path: apiPath`/projects/${project}/schedules/${id}`,
    }),
    done: ({ id }) => `Canceled schedule ${id}.`,
  }),
];

function removal({ on, off, value, rollout }: StateOptions): 'null' {
  if (!on && !off && value === undefined && rollout === undefined) return 'null';
  throw usageError('--remove cannot be used with --on, --off, --value or --rollout.');
}

/** The whole new state, or the parts that change. */
function describeScheduled(change: Fields): string {
  const state = change.any('state');
  const words =
    state === undefined
      ? describePatch(change.fields('patch'))
      : state === null
        ? 'remove'
        : describeState(state);
  return `${change.text('key')}: ${words}`;
}

function statusOf(item: Fields): string {
  const status = item.text('status') === 'cancelled' ? 'canceled' : item.text('status');
  const seq = item.any('seq');
  return seq === undefined ? status : `${status} (change ${seq})`;
}
