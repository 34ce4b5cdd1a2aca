import { apiPath } from './api-client.ts';
import { type CliCommand, command } from './command.ts';
import { namesIn, option, required } from './options.ts';
import { shortTime } from './output.ts';
import { parseFutureTime } from './times.ts';

/** `halyard key create|list|replace|revoke` */
export const keyCommands: readonly CliCommand[] = [
  command({
    usage: 'create',
    about:
      'Create a project key and print it on standard output (with --json the whole record). It is shown only once.',
    options: {
      project: required('<project>', 'Project to read'),
      env: required('<environments>', 'Environments the key can read, separated by commas'),
      name: required('<name>', 'Name of the key, such as the application that uses it'),
      expires: option('<when>', 'Expiry: 12h, 30d, 4w, or a date (default never)'),
    },
    examples: [
      'halyard key create --project shop --env production --name checkout-service',
      'halyard key create --project shop --env development,staging --name ci --expires 30d > key.txt',
    ],
    request: ({ project, env, name, expires }, shell) => ({
      method: 'POST',
      path: apiPath`/projects/${project}/keys`,
      body: {
        name,
        environments: namesIn(env),
        expiresAt: expires === undefined ? undefined : parseFutureTime(expires, shell.now(), '--expires'),
      },
    }),
    secret: {
      member: 'key',
      sentence: (fields, { project, env, name }) =>
        `Key ${name} (${fields.text('id')}) reads ${namesIn(env).join(', ')} of ${project} and ` +
        `${describeExpiry(fields.optionalText('expiresAt'))}.\nSave it now. You cannot see it again.`,
    },
  }),
  command({
    usage: 'list',
    about: 'List the keys of a project, without their secrets.',
    options: { project: required('<project>', 'Project to list') },
    request: ({ project }) => ({ path: apiPath`/projects/${project}/keys` }),
    list: {
      isPaged: true,
      member: 'keys',
      headings: ['ID', 'NAME', 'KEY', 'ENVIRONMENTS', 'STATUS', 'CREATED', 'EXPIRES', 'LAST USED'],
      row: (item) => [
        item.text('id'),
        item.text('name'),
        `...${item.text('lastFour')}`,
        item.texts('environments').join(', '),
        item.any('damaged') === true ? 'damaged' : item.text('status'),
        ...['createdAt', 'expiresAt', 'lastUsedAt'].map((name) => shortTime(item.optionalText(name))),
      ],
      empty: ({ project }) =>
        `No keys in ${project}. Create one with "halyard key create --project ${project} ...".`,
    },
  }),
  command({
    usage: 'replace <id>',
    about:
      'Create a key with the settings of another one, and print it on standard output (with --json the whole record). The other one works on for some days.',
    help: 'Run "halyard key list" to see the ids.',
    options: { ends: option('<when>', 'When the other key ends: 12h, 3d, or a date (default 7d)') },
    examples: ['halyard key replace kQ2v0f9x --ends 3d > key.txt'],
    request: ({ id, ends }, shell) => ({
      method: 'POST',
      path: apiPath`/keys/${id}/replace`,
      body: { endsAt: ends === undefined ? undefined : parseFutureTime(ends, shell.now(), '--ends') },
    }),
    secret: {
      member: 'key',
      sentence: (fields, { id }) =>
        `Key ${fields.text('name')} (${fields.text('id')}) replaces ${id}, which ` +
        `${describeExpiry(fields.fields('replaced').optionalText('expiresAt'))}.\nSave it now. You cannot see it again.`,
    },
  }),
  command({
    usage: 'revoke <id>',
    about: 'Revoke a key. Its requests fail with 401 and its streams close at once.',
    help: 'Run "halyard key list" to see the ids.',
    request: ({ id }) => ({ method: 'DELETE', path: apiPath`/keys/${id}` }),
    answer: (fields, { id }) => `Revoked key ${fields.text('name')} (${id}).\n`,
  }),
];

/** `never expires`, or `expires at …`. */
export function describeExpiry(expiresAt: string | undefined): string {
  return expiresAt === undefined ? 'never expires' : `expires at ${shortTime(expiresAt)}`;
}
