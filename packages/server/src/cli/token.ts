import { ROLES, TOKEN_LIMITS } from '@halyard/protocol';
import { apiPath } from './api-client.ts';
import { usageError } from './cli-error.ts';
import { type CliCommand, command } from './command.ts';
import { describeExpiry } from './key.ts';
import { option, required, toggle } from './options.ts';
import { shortTime } from './output.ts';
import { describeRights, rightsBody, rightsOptions } from './rights.ts';
import type { Shell } from './shell.ts';
import { parseFutureTime } from './times.ts';

/** `halyard token create|list|revoke` */
export const tokenCommands: readonly CliCommand[] = [
  command({
    usage: 'create',
    about:
      'Create an access token and print it on standard output (with --json the whole record). It is shown only once.',
    options: {
      name: required('<name>', 'Name of the token, such as the person or pipeline that uses it'),
      only: option(
        '<task>',
        'Limit the token to a task: plan (read, preview imports), states (read, set flag states) or audit (read the audit log)',
        { choices: TOKEN_LIMITS },
      ),
      exempt: toggle('Let its changes pass without approval, because people have reviewed what it does'),
      days: option('<count>', 'Days until it expires (default 90)'),
      expires: option('<when>', 'Expiry: 12h, 30d, 4w, a date, or never'),
      ...rightsOptions(ROLES, { role: 'default editor', protected: 'always on for admin' }),
    },
    examples: [
      'halyard token create --name deploy --project shop --only states --protected --days 30',
      'halyard token create --name review --project shop,web --only plan',
      'halyard token create --name siem --role admin --only audit --expires never',
      'halyard token create --name operations --role admin --expires never',
    ],
    request: ({ name, only, exempt, ...options }, shell) => ({
      method: 'POST',
      path: apiPath`/tokens`,
      body: {
        name,
        ...rightsBody({ role: 'editor', ...options }),
        only,
        exempt,
        expiresAt: expiryOf(options, shell),
      },
    }),
    secret: {
      member: 'token',
      sentence: (fields, { name }) =>
        `Token ${name} (${fields.text('id')}) has the role ${describeRights(fields)} and ${describeExpiry(fields.optionalText('expiresAt'))}.\n` +
        'Save it now. You cannot see it again.',
    },
  }),
  command({
    usage: 'list',
    about: 'List the access tokens, without their secrets.',
    request: () => ({ path: apiPath`/tokens` }),
    list: {
      isPaged: true,
      member: 'tokens',
      headings: ['ID', 'NAME', 'ROLE', 'CREATED', 'EXPIRES', 'REVOKED', 'LAST USED'],
      row: (item) => [
        item.text('id'),
        item.text('name'),
        item.any('damaged') === true
          ? 'damaged'
          : `${describeRights(item)}${item.any('exempt') === true ? ', no approval' : ''}`,
        ...['createdAt', 'expiresAt', 'revokedAt', 'lastUsedAt'].map((name) =>
          shortTime(item.optionalText(name)),
        ),
      ],
      empty: () =>
        'No access tokens except the admin token. Create one with "halyard token create --name <name>".',
    },
  }),
  command({
    usage: 'revoke <id>',
    about: 'Revoke an access token.',
    help: 'Run "halyard token list" to see the ids.',
    request: ({ id }) => ({ method: 'DELETE', path: apiPath`/tokens/${id}` }),
    done: ({ id }) => `Revoked token ${id}.`,
  }),
];

/** `undefined`: as the server decides. */
function expiryOf(
  { days, expires }: { readonly days?: string; readonly expires?: string },
  shell: Shell,
): string | null | undefined {
  if (days !== undefined && expires !== undefined)
    throw usageError('Add either --days or --expires, not both.');
  if (expires === 'never') return null;
  if (expires !== undefined) return parseFutureTime(expires, shell.now(), '--expires');

  if (days !== undefined && !/^[1-9]\d{0,4}$/.test(days))
    throw usageError(`--days must be a whole number of days, such as 30, not "${days}".`);
  return days === undefined ? undefined : parseFutureTime(`${days}d`, shell.now(), '--days');
}
