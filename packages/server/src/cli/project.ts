import { apiPath } from './api-client.ts';
import { usageError } from './cli-error.ts';
import { type CliCommand, command } from './command.ts';
import { NOTE, toggle, WISH } from './options.ts';
import { shortTime } from './output.ts';

/** `halyard project create|list|update|delete` */
export const projectCommands: readonly CliCommand[] = [
  command({
    usage: 'create <project>',
    about: 'Create a project with the environments development, staging and production.',
    examples: ['halyard project create shop'],
    request: ({ project: name }) => ({ method: 'POST', path: apiPath`/projects`, body: { name } }),
    answer: (fields, { project: name }) => {
      const environments = fields.list('environments').map((environment) => environment.text('name'));
      return `Created project ${name} with ${environments.join(', ')}.\n`;
    },
  }),
  command({
    usage: 'list',
    about: 'List the projects.',
    request: () => ({ path: apiPath`/projects` }),
    list: {
      isPaged: true,
      member: 'projects',
      headings: ['PROJECT', 'CREATED'],
      row: (item) => [item.text('name'), shortTime(item.optionalText('createdAt'))],
      empty: () => 'No projects. Create one with "halyard project create <project>".',
    },
  }),
  command({
    usage: 'update <project>',
    about: 'Change whether the clients of a project report how often they read each flag.',
    options: {
      usage: toggle('Ask clients to report reads, as counts without targeting keys', {
        no: 'Stop asking clients to report reads',
      }),
    },
    examples: ['halyard project update shop --usage'],
    request: ({ project: name, usage }) => {
      if (usage === undefined) throw usageError('Nothing to change. Add --usage or --no-usage.');
      return { method: 'PATCH', path: apiPath`/projects/${name}`, body: { usage } };
    },
    answer: (_fields, { project: name, usage }) => {
      const does = usage ? 'report reads' : 'do not report reads';
      return `Updated project ${name}: its clients ${does}.\n`;
    },
  }),
  command({
    usage: 'delete <project>',
    about: 'Delete a project with its environments, flags and keys. Its applications get 401 from then on.',
    options: { note: NOTE, ...WISH },
    confirm: {
      about: 'Confirm; a deleted project cannot be restored',
      loses: ({ project: name }) =>
        `This permanently deletes project ${name} with its environments, flags and keys.`,
    },
    examples: ['halyard project delete shop --yes'],
    request: ({ project: name, note }) => ({ method: 'DELETE', path: apiPath`/projects/${name}`, note }),
    done: ({ project: name }) => `Deleted project ${name}.`,
  }),
];
