import { ENVIRONMENT_COLORS } from '@halyard/protocol';
import { apiPath } from './api-client.ts';
import { usageError } from './cli-error.ts';
import { type CliCommand, command } from './command.ts';
import { NOTE, option, toggle, WISH } from './options.ts';
import { shortTime } from './output.ts';

/** `halyard environment create|list|update|publish|withdraw|delete` */
export const environmentCommands: readonly CliCommand[] = [
  command({
    usage: 'create <project> <environment>',
    about: 'Create an environment without flags.',
    examples: ['halyard environment create shop preview'],
    request: ({ project, environment: name }) => ({
      method: 'POST',
      path: apiPath`/projects/${project}/environments`,
      body: { name },
    }),
    answer: (_fields, { project, environment: name }) => `Created environment ${name} of ${project}.\n`,
  }),
  command({
    usage: 'list <project>',
    about: 'List the environments of a project.',
    request: ({ project }) => ({ path: apiPath`/projects/${project}/environments` }),
    list: {
      isPaged: true,
      member: 'environments',
      headings: ['ENVIRONMENT', 'REVISION', 'PROTECTED', 'CREATED'],
      row: (item) => [
        item.text('name'),
        `${item.number('revision')}`,
        item.boolean('protected') ? 'yes' : 'no',
        shortTime(item.optionalText('createdAt')),
      ],
      empty: ({ project }) =>
        `No environments in ${project}. Create one with "halyard environment create ${project} <environment>".`,
    },
  }),
  command({
    usage: 'update <project> <environment>',
    about: 'Change how an environment is guarded, and its appearance in the dashboard.',
    options: {
      protect: toggle('Require a permission to change its flags, and confirmation in the dashboard', {
        no: 'Remove the protection',
      }),
      approvals: option('<n>', 'Require the approval of this many other people for changes: 0, 1 or 2'),
      emergencyOff: toggle('Let every editor turn flags off without approval, with --emergency', {
        no: 'Leave emergencies to administrators',
      }),
      requireReason: toggle('Require a reason for every change of its flags', {
        no: 'Accept changes without a reason',
      }),
      color: option('<color>', `Set the color: ${ENVIRONMENT_COLORS.join(', ')}`),
      position: option('<n>', 'Set the position among the environments, from 0'),
      note: NOTE,
      ...WISH,
    },
    examples: ['halyard environment update shop staging --protect --color violet'],
    request: ({ protect, approvals, position, note, ...rest }) => {
      if (position !== undefined && !/^\d{1,4}$/.test(position))
        throw usageError(`--position must be a whole number from 0, not "${position}".`);
      if (approvals !== undefined && !/^[012]$/.test(approvals))
        throw usageError(`--approvals must be 0, 1 or 2, not "${approvals}".`);
      const body = {
        protected: protect,
        approvals: approvals === undefined ? undefined : Number(approvals),
        emergencyOff: rest.emergencyOff,
        reasonRequired: rest.requireReason,
        color: rest.color,
        position: position === undefined ? undefined : Number(position),
      };
      if (Object.values(body).every((value) => value === undefined))
        throw usageError(
          'Nothing to change. Add --protect, --approvals, --emergency-off, --require-reason, --color or --position.',
        );

      return { method: 'PATCH', path: pathOf(rest), body, note };
    },
    answer: (fields, { project, environment: name }) => {
      const protection = fields.boolean('protected') ? 'protected' : 'not protected';
      const approvals = fields.any('approvals') === 0 ? '' : `, approvals: ${fields.number('approvals')}`;
      const reasons = fields.any('reasonRequired') === true ? ', reasons required' : '';
      return `Updated environment ${name} of ${project}: ${protection}${approvals}${reasons}, ${fields.text('color')}.\n`;
    },
  }),
  command({
    usage: 'publish <project> <environment>',
    about:
      'Publish an environment to the storage of HALYARD_PUBLISH_URL: its flags can then be read without a key.',
    confirm: {
      about: 'Confirm that no key is needed',
      loses: ({ environment: name }) =>
        `Anyone who knows the address can then read all flags of environment ${name}, without a key.`,
    },
    examples: ['halyard environment publish shop production --yes'],
    request: (which) => ({
      method: 'PUT',
      path: `${pathOf(which)}/publication`,
      body: { withoutKey: true },
    }),
    done: ({ project, environment: name }) =>
      `Environment ${name} of ${project} will be published by a node that has HALYARD_PUBLISH_URL.`,
  }),
  command({
    usage: 'withdraw <project> <environment>',
    about: 'Stop publishing an environment, and remove its files from the storage.',
    examples: ['halyard environment withdraw shop production'],
    request: (which) => ({ method: 'DELETE', path: `${pathOf(which)}/publication` }),
    done: ({ project, environment: name }) =>
      `The published files of environment ${name} of ${project} will be removed.`,
  }),
  command({
    usage: 'delete <project> <environment>',
    about: 'Delete an environment and its flag states. Its streams close and its applications get 404.',
    options: { note: NOTE, ...WISH },
    confirm: {
      about: 'Confirm; a deleted environment cannot be restored',
      loses: ({ environment: name }) =>
        `This permanently deletes environment ${name} and all flag states in it.`,
    },
    examples: ['halyard environment delete shop preview --yes'],
    request: ({ note, ...which }) => ({ method: 'DELETE', path: pathOf(which), note }),
    done: ({ project, environment: name }) => `Deleted environment ${name} of ${project}.`,
  }),
];

function pathOf({ project, environment }: { readonly project: string; readonly environment: string }) {
  return apiPath`/projects/${project}/environments/${environment}`;
}
