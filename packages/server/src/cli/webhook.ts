import { shorten } from '../domain/text.ts';
import { apiPath } from './api-client.ts';
import { CliError, usageError } from './cli-error.ts';
import { type CliCommand, command, connect } from './command.ts';
import type { Fields } from './fields.ts';
import { CONNECTION, namesIn, option, required, toggle, type ValuesOf } from './options.ts';
import { printAnswer, shortTime } from './output.ts';
import type { Shell } from './shell.ts';

/** The options of every command here. */
const WEBHOOK = {
  project: option('<project>', 'Project of the webhook (default HALYARD_PROJECT)'),
  installation: toggle('Use a webhook of the installation, which gets every entry of the audit log'),
  ...CONNECTION,
};

const URL_HELP = 'HTTPS URL to send messages to';

const SETTINGS = {
  format: option(
    '<format>',
    'json, or slack for one text, as Slack and other chat tools expect (default json)',
  ),
  env: option(
    '<environments>',
    'Only changes of these environments, separated by commas, or all (default all)',
  ),
  events: option('<kinds>', 'Only these kinds of changes, such as flag,key, or all (default all)'),
};

/** `halyard webhook create|list|show|update|test|deliveries|replay|skip|rotate|pause|resume|delete` */
export const webhookCommands: readonly CliCommand[] = [
  command({
    usage: 'create <name>',
    about:
      'Create a webhook and print its signing secret on standard output (with --json the whole record). It is shown only once.',
    options: { ...WEBHOOK, to: required('<url>', URL_HELP), ...SETTINGS },
    examples: [
      'halyard webhook create ci --project shop --to https://ci.example.com/halyard > secret.txt',
      'halyard webhook create siem --installation --to https://siem.example.com/halyard > secret.txt',
      'halyard webhook create chat --project shop --to https://hooks.slack.com/services/... --format slack --env production',
    ],
    request: ({ name, ...options }, shell) => ({
      method: 'POST',
      path: listOf(options, shell),
      body: { name, ...settingsOf(options) },
    }),
    secret: {
      member: 'secret',
      sentence: (fields, { name }) =>
        `Webhook ${name} sends ${describeScope(fields)} to ${fields.text('url')}.\n` +
        'Save its signing secret now. You cannot see it again.',
    },
  }),
  command({
    usage: 'list',
    about: 'List the webhooks of a project or of the installation, without their secrets.',
    options: WEBHOOK,
    request: (which, shell) => ({ path: listOf(which, shell) }),
    list: {
      member: 'webhooks',
      headings: ['NAME', 'URL', 'FORMAT', 'CHANGES', 'STATUS', 'WAITING', 'WAITING SINCE', 'GIVEN UP'],
      row: (item) => [
        item.text('name'),
        item.text('url'),
        item.text('format'),
        describeScope(item),
        describeStatus(item),
        describePending(item),
        shortTime(item.optionalText('pendingSince')),
        String(item.any('givenUp')),
      ],
      empty: (which) =>
        `No webhooks here. Create one with "halyard webhook create <name>${wordsOf(which)} --to <url>".`,
    },
  }),
  command({
    usage: 'show <name>',
    about: 'Show one webhook.',
    options: WEBHOOK,
    request: (which, shell) => ({ path: pathOf(which, shell) }),
    answer: describeWebhook,
  }),
  command({
    usage: 'update <name>',
    about: 'Change a webhook. Options you leave out keep their values.',
    options: { ...WEBHOOK, to: option('<url>', URL_HELP), ...SETTINGS },
    request: (which, shell) => {
      const body = settingsOf(which);
      if (Object.values(body).every((value) => value === undefined))
        throw usageError('Nothing to change. Add --to, --format, --env or --events.');
      return { method: 'PATCH', path: pathOf(which, shell), body };
    },
    answer: (_fields, { name }) => `Updated webhook ${name}.\n`,
  }),
  command({
    usage: 'test <name>',
    about: 'Send a test message and show the answer.',
    options: WEBHOOK,
    run: (which, shell) => sendByHand(which, { action: 'test' }, shell),
  }),
  command({
    usage: 'deliveries <name>',
    about: 'List the last 100 attempts, the newest first.',
    options: WEBHOOK,
    request: (which, shell) => ({ path: `${pathOf(which, shell)}/deliveries` }),
    list: {
      member: 'deliveries',
      headings: ['NUMBER', 'TIME', 'CHANGE', 'WHY', 'OUTCOME', 'STATUS', 'MS', 'DETAIL'],
      row: (item) => [
        String(item.any('number')),
        `${item.text('at').slice(0, 19).replace('T', ' ')}Z`,
        String(item.any('seq') ?? '-'),
        item.text('trigger'),
        item.text('outcome'),
        String(item.any('status') ?? '-'),
        String(item.any('durationMs')),
        shorten(item.optionalText('error') ?? item.optionalText('answer') ?? '', 80),
      ],
      empty: (which) =>
        `The webhook ${which.name} has sent nothing yet. Try "halyard webhook test ${which.name}${wordsOf(which)}".`,
    },
  }),
  command({
    usage: 'replay <name> <seq>',
    about: 'Send the message of a change again.',
    options: WEBHOOK,
    help: 'Run "halyard webhook deliveries" or "halyard audit" to see the numbers of changes.',
    run: ({ seq, ...which }, shell) =>
      sendByHand(which, { action: 'replay', body: { seq: changeNumber(seq) } }, shell),
  }),
  command({
    usage: 'skip <name> <seq>',
    about:
      'Skip the change that the webhook sends next. Later changes are tried at once, or wait while the webhook is paused or disabled.',
    options: WEBHOOK,
    help: 'Run "halyard webhook show" to see the change that fails. "halyard webhook resume --skip" skips all waiting changes.',
    request: ({ seq, ...which }, shell) => ({
      method: 'POST',
      path: `${pathOf(which, shell)}/skip`,
      body: { seq: changeNumber(seq) },
    }),
    answer: (fields, { name, seq }) =>
      `Skipped change ${seq} for webhook ${name}. Waiting: ${describePending(fields)}.\n`,
  }),
  command({
    usage: 'rotate <name>',
    about: 'Replace the signing secret and print the new one. It is shown only once.',
    options: {
      ...WEBHOOK,
      overlap: option('<hours>', 'Hours in which messages are signed with the old secret too (default 24)'),
    },
    request: ({ overlap, ...which }, shell) => {
      if (overlap !== undefined && !/^\d{1,3}(\.\d+)?$/.test(overlap))
        throw usageError(`--overlap must be a number of hours, such as 24, not "${overlap}".`);
      const body = { overlapHours: overlap === undefined ? undefined : Number(overlap) };
      return { method: 'POST', path: `${pathOf(which, shell)}/rotate`, body };
    },
    secret: {
      member: 'secret',
      sentence: (fields, { name, overlap }) => {
        const until = shortTime(fields.optionalText('previousSecretUntil'));
        const old = Number(overlap) === 0 ? '' : ` The old one signs too until ${until}.`;
        return `Webhook ${name} has a new secret.${old}\nSave it now. You cannot see it again.`;
      },
    },
  }),
  command({
    usage: 'pause <name>',
    about: 'Stop sending. Changes wait until you resume.',
    options: WEBHOOK,
    request: (which, shell) => ({
      method: 'PATCH',
      path: pathOf(which, shell),
      body: { status: 'paused' },
    }),
    answer: (_fields, { name }) => `Paused webhook ${name}.\n`,
  }),
  command({
    usage: 'resume <name>',
    about: 'Resume sending, waiting changes first. Also enables a webhook that the server disabled.',
    options: { ...WEBHOOK, skip: toggle('Skip the waiting changes') },
    request: ({ skip, ...which }, shell) => ({
      method: 'PATCH',
      path: pathOf(which, shell),
      body: { status: 'active', skipPending: skip },
    }),
    answer: (_fields, { name }) => `Resumed webhook ${name}.\n`,
  }),
  command({
    usage: 'delete <name>',
    about: 'Delete a webhook. Waiting changes are never sent.',
    options: WEBHOOK,
    confirm: {
      about: 'Confirm',
      loses: ({ name }) => `This deletes the webhook ${name} and the messages that it has not sent yet.`,
    },
    request: (which, shell) => ({ method: 'DELETE', path: pathOf(which, shell) }),
    done: ({ name }) => `Deleted webhook ${name}.`,
  }),
];

/** A webhook, and how to reach the server that has it. */
type Which = ValuesOf<typeof WEBHOOK> & { readonly name: string };

/** Where the webhooks of the project or of the installation are. */
function listOf(which: Pick<Which, 'project' | 'installation'>, shell: Shell): string {
  const project = projectOf(which, shell);
  return project === undefined ? apiPath`/webhooks` : apiPath`/projects/${project}/webhooks`;
}

/** The project that is meant; `undefined` for the installation. */
function projectOf({ project, installation }: Pick<Which, 'project' | 'installation'>, { env }: Shell) {
  if (installation && project !== undefined) throw usageError('Add --project or --installation, not both.');
  if (installation) return undefined;
  const name = project ?? env.HALYARD_PROJECT;
  if (!name)
    throw usageError("Add --project <project>, or --installation for the whole installation's webhooks.");
  return name;
}

function pathOf(which: Which, shell: Shell): string {
  const project = projectOf(which, shell);
  return project === undefined
    ? apiPath`/webhooks/${which.name}`
    : apiPath`/projects/${project}/webhooks/${which.name}`;
}

/** The options that name the place in a command to copy. */
function wordsOf({ project, installation }: Pick<Which, 'project' | 'installation'>): string {
  if (installation) return ' --installation';
  return project === undefined ? '' : ` --project ${project}`;
}

/** How many changes wait: `12`, or `12 or more` where the server did not count further. */
function describePending(item: Fields): string {
  return `${String(item.any('pendingCount'))}${item.any('pendingMore') === true ? ' or more' : ''}`;
}

function changeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw usageError(`"${text}" is not the number of a change, such as 42.`);
  return Number(text);
}

/** The members of a request body; `undefined` for what the command line leaves out. */
function settingsOf({ to, format, env, events }: ValuesOf<typeof SETTINGS> & { readonly to?: string }) {
  const list = (text: string | undefined) =>
    text === 'all' ? [] : text === undefined ? text : namesIn(text);
  return { url: to, format, environments: list(env), events: list(events) };
}

function describeScope(item: Fields): string {
  const [environments, events] = [item.texts('environments'), item.texts('events')];
  const kinds = events.length === 0 ? 'all changes' : `changes of ${events.join(', ')}`;
  return environments.length === 0 ? kinds : `${kinds} in ${environments.join(', ')}`;
}

function describeStatus(item: Fields): string {
  const reason = item.optionalText('reason');
  if (reason !== undefined) return `${item.text('status')}: ${reason}`;
  const next = item.optionalText('nextAttemptAt');
  return next === undefined ? item.text('status') : `failing, next attempt ${shortTime(next)}`;
}

function describeWebhook(item: Fields): string {
  const until = item.optionalText('previousSecretUntil');
  const lines = [
    `${item.text('name')} sends ${describeScope(item)} to ${item.text('url')} as ${item.text('format')}.`,
    `Status: ${describeStatus(item)}`,
    ...failureLines(item),
    `Delivered up to change ${item.any('deliveredSeq')}; waiting: ${describePending(item)}, since ${shortTime(item.optionalText('pendingSince'))}; given up: ${item.any('givenUp')}`,
    ...(until === undefined ? [] : [`The previous secret signs too until ${shortTime(until)}.`]),
  ];
  return `${lines.join('\n')}\n`;
}

/** Why the last attempt failed, if it did. */
function failureLines(item: Fields): readonly string[] {
  const failure = item.optionalFields('lastFailure');
  if (failure === undefined) return [];

  const parts = [failure.optionalText('error'), failure.optionalText('answer')].filter(Boolean);
  return [`Change ${String(failure.any('seq'))} failed ${shortTime(failure.text('at'))}: ${parts.join(' ')}`];
}

/** Sends a message now; fails if the receiver did not accept it. */
async function sendByHand(
  which: Which,
  { action, body }: { readonly action: 'test' | 'replay'; readonly body?: object },
  shell: Shell,
): Promise<void> {
  const path = `${pathOf(which, shell)}/${action}`;
  const answer = await connect(shell, which).request({
    method: 'POST',
    path,
    isUnrecorded: true,
    ...(body && { body }),
  });

  const { fields } = answer;
  const isDelivered = fields.text('outcome') === 'delivered';
  const took = `${String(fields.any('durationMs'))} ms`;
  printAnswer(shell, which, answer, () =>
    isDelivered ? `The receiver answered ${String(fields.any('status'))} after ${took}.\n` : '',
  );
  if (isDelivered) return;

  const text = fields.optionalText('answer') ?? '';
  const detail = text === '' ? '' : ` It said: ${shorten(text, 200)}`;
  throw new CliError(`${fields.optionalText('error') ?? 'The message was not delivered.'}${detail}`);
}
