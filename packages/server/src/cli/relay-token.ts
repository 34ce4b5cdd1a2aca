import { apiPath } from './api-client.ts';
import { type CliCommand, command } from './command.ts';
import type { Fields } from './fields.ts';
import { namesIn, option, required } from './options.ts';
import { shortTime } from './output.ts';

/** `halyard relay-token create|list|revoke` */
export const relayTokenCommands: readonly CliCommand[] = [
  command({
    usage: 'create',
    about:
      'Create a relay token and print it on standard output (with --json the whole record). It is shown only once.',
    options: {
      name: required('<name>', 'Name of the token, such as the place of the relay'),
      project: option('<projects>', 'Projects that the relay gets, separated by commas (default all)'),
      env: option('<environments>', 'Environments that the relay gets, separated by commas (default all)'),
    },
    examples: [
      'halyard relay-token create --name frankfurt > relay-token',
      'halyard relay-token create --name shop-edge --project shop --env production > relay-token',
    ],
    request: ({ name, project, env }) => ({
      method: 'POST',
      path: apiPath`/relay-tokens`,
      body: {
        name,
        projects: project === undefined ? undefined : namesIn(project),
        environments: env === undefined ? undefined : namesIn(env),
      },
    }),
    secret: {
      member: 'token',
      sentence: (fields, { name, project, env }) =>
        `Relay token ${name} (${fields.text('id')}) gets ${listed(env, 'all environments')} of ` +
        `${listed(project, 'all projects')}.\nSave it now. You cannot see it again.`,
    },
  }),
  command({
    usage: 'list',
    about: 'List the relay tokens, without their secrets.',
    request: () => ({ path: apiPath`/relay-tokens` }),
    list: {
      isPaged: true,
      member: 'relayTokens',
      headings: ['ID', 'NAME', 'PROJECTS', 'ENVIRONMENTS', 'CREATED', 'REVOKED', 'LAST CONTACT'],
      row: (item) => [
        item.text('id'),
        item.text('name'),
        projectsOf(item),
        namesOf(item, 'environments'),
        ...['createdAt', 'revokedAt', 'lastUsedAt'].map((name) => shortTime(item.optionalText(name))),
      ],
      empty: () => 'No relay tokens. Create one with "halyard relay-token create --name <name>".',
    },
  }),
  command({
    usage: 'revoke <id>',
    about: 'Revoke a relay token. Its relays lose their upstream at once.',
    help: 'Run "halyard relay-token list" to see the ids.',
    request: ({ id }) => ({ method: 'DELETE', path: apiPath`/relay-tokens/${id}` }),
    done: ({ id }) => `Revoked relay token ${id}.`,
  }),
];

function listed(names: string | undefined, all: string): string {
  return names === undefined ? all : namesIn(names).join(', ');
}

/** Its projects; of those that were deleted only how many they are. */
function projectsOf(item: Fields): string {
  if (item.any('deletedProjects') === undefined) return namesOf(item, 'projects');
  return [...item.texts('projects'), `${item.number('deletedProjects')} deleted`].join(', ');
}

function namesOf(item: Fields, member: string): string {
  return item.any(member) === undefined ? 'all' : item.texts(member).join(', ');
}
