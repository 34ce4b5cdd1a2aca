import type { Command } from 'commander';
import { shorten } from '../domain/text.ts';
import { apiPath } from './api-client.ts';
import { CliError, usageError } from './cli-error.ts';
import type { Fields } from './fields.ts';
import { addConnectionOptions, type CommandOptions, connect, namesIn, requireYes } from './options.ts';
import { printAnswer, printDone, printList, printSecret, shortTime } from './output.ts';
import type { Shell } from './shell.ts';

interface WebhookOptions extends CommandOptions {
  readonly project: string;
}

interface SettingOptions extends WebhookOptions {
  readonly to?: string;
  readonly format?: string;
  readonly env?: string;
  readonly events?: string;
}

/** `halyard webhook create|list|show|update|test|deliveries|replay|rotate|pause|resume|delete` */
export function defineWebhook(webhook: Command, shell: Shell): void {
  const define = (usage: string, description: string) =>
    addConnectionOptions(
      webhook
        .command(usage)
        .description(description)
        .requiredOption('--project <project>', 'Project of the webhook'),
    );
  withSettings(
    define(
      'create <name>',
      'Create a webhook and print its signing secret on standard output (with --json the whole record). It is shown only once.',
    ).requiredOption('--to <url>', 'HTTPS URL to send messages to'),
  )
    .addHelpText('after', EXAMPLES)
    .action((name: string, options: SettingOptions) => createWebhook(shell, name, options));
  define('list', 'List the webhooks of a project, without their secrets.').action((options: WebhookOptions) =>
    listWebhooks(shell, options),
  );
  define('show <name>', 'Show one webhook.').action(async (name: string, options: WebhookOptions) => {
    const answer = await connect(shell, options).request({ path: pathOf(name, options) });
    printAnswer(shell, options, answer, describeWebhook);
  });
  withSettings(
    define('update <name>', 'Change a webhook. Options you leave out keep their values.').option(
      '--to <url>',
      'HTTPS URL to send messages to',
    ),
  ).action(async (name: string, options: SettingOptions) => {
    const body = settingsOf(options);
    if (Object.keys(body).length === 0)
      throw usageError('Nothing to change. Add --to, --format, --env or --events.');
    await patch(shell, name, options, { body, done: 'Updated' });
  });
  define('test <name>', 'Send a test message and show the answer.').action(
    (name: string, options: WebhookOptions) => send(shell, name, options, { action: 'test' }),
  );
  define('deliveries <name>', 'List the last 100 attempts, the newest first.').action(
    (name: string, options: WebhookOptions) => listDeliveries(shell, name, options),
  );
  define('replay <name> <seq>', 'Send the message of a change again.')
    .addHelpText(
      'after',
      '\nRun "halyard webhook deliveries" or "halyard audit" to see the numbers of changes.',
    )
    .action((name: string, seq: string, options: WebhookOptions) => {
      if (!/^\d{1,15}$/.test(seq)) throw usageError(`"${seq}" is not the number of a change, such as 42.`);
      return send(shell, name, options, { action: 'replay', body: { seq: Number(seq) } });
    });
  define('rotate <name>', 'Replace the signing secret and print the new one. It is shown only once.')
    .option('--overlap <hours>', 'Hours in which messages are signed with the old secret too (default 24)')
    .action((name: string, options: WebhookOptions & { readonly overlap?: string }) =>
      rotateWebhook(shell, name, options),
    );
  define('pause <name>', 'Stop sending. Changes wait until you resume.').action(
    (name: string, options: WebhookOptions) =>
      patch(shell, name, options, { body: { status: 'paused' }, done: 'Paused' }),
  );
  define(
    'resume <name>',
    'Resume sending, waiting changes first. Also enables a webhook that the server disabled.',
  )
    .option('--skip', 'Skip the waiting changes')
    .action((name: string, options: WebhookOptions & { readonly skip?: boolean }) =>
      patch(shell, name, options, {
        body: { status: 'active', ...(options.skip && { skipPending: true }) },
        done: 'Resumed',
      }),
    );
  define('delete <name>', 'Delete a webhook. Waiting changes are never sent.')
    .option('--yes', 'Confirm')
    .action(async (name: string, options: WebhookOptions & { readonly yes?: boolean }) => {
      requireYes(options, `This deletes the webhook ${name} and the messages that it has not sent yet.`);
      const path = pathOf(name, options);
      const answer = await connect(shell, options).request({ method: 'DELETE', path });
      printDone(shell, options, `Deleted webhook ${name}.`, answer.text);
    });
}

function withSettings(command: Command): Command {
  return command
    .option(
      '--format <format>',
      'json, or slack for one text, as Slack and other chat tools expect (default json)',
    )
    .option(
      '--env <environments>',
      'Only changes of these environments, separated by commas, or all (default all)',
    )
    .option('--events <kinds>', 'Only these kinds of changes, such as flag,key, or all (default all)');
}

const EXAMPLES = `
Examples:
  halyard webhook create ci --project shop --to https://ci.example.com/halyard > secret.txt
  halyard webhook create chat --project shop --to https://hooks.slack.com/services/... --format slack --env production`;

function pathOf(name: string, { project }: WebhookOptions): string {
  return apiPath`/projects/${project}/webhooks/${name}`;
}

function settingsOf({ to, format, env, events }: SettingOptions) {
  const list = (text: string) => (text === 'all' ? [] : namesIn(text));
  return {
    ...(to === undefined ? {} : { url: to }),
    ...(format === undefined ? {} : { format }),
    ...(env === undefined ? {} : { environments: list(env) }),
    ...(events === undefined ? {} : { events: list(events) }),
  };
}

async function createWebhook(shell: Shell, name: string, options: SettingOptions): Promise<void> {
  const path = apiPath`/projects/${options.project}/webhooks`;
  const body = JSON.stringify({ name, ...settingsOf(options) });
  const answer = await connect(shell, options).request({ method: 'POST', path, body });
  printSecret(shell, options, answer, {
    member: 'secret',
    sentence:
      `Webhook ${name} sends ${describeScope(answer.fields)} of ${options.project} to ${answer.fields.text('url')}.\n` +
      'Save its signing secret now. You cannot see it again.',
  });
}

async function rotateWebhook(
  shell: Shell,
  name: string,
  options: WebhookOptions & { readonly overlap?: string },
): Promise<void> {
  const { overlap } = options;
  if (overlap !== undefined && !/^\d{1,3}(\.\d+)?$/.test(overlap)) {
    throw usageError(`--overlap must be a number of hours, such as 24, not "${overlap}".`);
  }
  const body = JSON.stringify(overlap === undefined ? {} : { overlapHours: Number(overlap) });
  const path = `${pathOf(name, options)}/rotate`;
  const answer = await connect(shell, options).request({ method: 'POST', path, body });
  const until = shortTime(answer.fields.optionalText('previousSecretUntil'));
  const old = Number(overlap) === 0 ? '' : ` The old one signs too until ${until}.`;
  printSecret(shell, options, answer, {
    member: 'secret',
    sentence: `Webhook ${name} has a new secret.${old}\nSave it now. You cannot see it again.`,
  });
}

async function listWebhooks(shell: Shell, options: WebhookOptions): Promise<void> {
  const { project } = options;
  const path = apiPath`/projects/${project}/webhooks`;
  await printList(shell, options, [await connect(shell, options).request({ path })], {
    member: 'webhooks',
    headings: ['NAME', 'URL', 'FORMAT', 'CHANGES', 'STATUS', 'WAITING SINCE', 'GIVEN UP'],
    row: (item) => [
      ...[
        item.text('name'),
        item.text('url'),
        item.text('format'),
        describeScope(item),
        describeStatus(item),
      ],
      ...[shortTime(item.optionalText('pendingSince')), String(item.any('givenUp'))],
    ],
    empty: `No webhooks in ${project}. Create one with "halyard webhook create <name> --project ${project} --to <url>".`,
  });
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
    `Delivered up to change ${item.any('deliveredSeq')}; waiting since ${shortTime(item.optionalText('pendingSince'))}; given up: ${item.any('givenUp')}`,
    ...(until === undefined ? [] : [`The previous secret signs too until ${shortTime(until)}.`]),
  ];
  return `${lines.join('\n')}\n`;
}

async function listDeliveries(shell: Shell, name: string, options: WebhookOptions): Promise<void> {
  const path = `${pathOf(name, options)}/deliveries`;
  await printList(shell, options, [await connect(shell, options).request({ path })], {
    member: 'deliveries',
    headings: ['NUMBER', 'TIME', 'CHANGE', 'WHY', 'OUTCOME', 'STATUS', 'MS', 'DETAIL'],
    row: (item) => [
      String(item.any('number')),
      `${item.text('at').slice(0, 19).replace('T', ' ')}Z`,
      String(item.any('seq') ?? '-'),
      ...[
        item.text('trigger'),
        item.text('outcome'),
        String(item.any('status') ?? '-'),
        String(item.any('durationMs')),
      ],
      shorten(item.optionalText('error') ?? item.optionalText('answer') ?? '', 80),
    ],
    empty: `The webhook ${name} has sent nothing yet. Try "halyard webhook test ${name} --project ${options.project}".`,
  });
}

async function patch(
  shell: Shell,
  name: string,
  options: WebhookOptions,
  { body, done }: { readonly body: object; readonly done: string },
): Promise<void> {
  const path = pathOf(name, options);
  const answer = await connect(shell, options).request({ method: 'PATCH', path, body: JSON.stringify(body) });
  printAnswer(shell, options, answer, () => `${done} webhook ${name}.\n`);
}

/** Sends a message by hand; fails if the receiver did not accept it. */
async function send(
  shell: Shell,
  name: string,
  options: WebhookOptions,
  { action, body }: { readonly action: 'test' | 'replay'; readonly body?: object },
): Promise<void> {
  const answer = await connect(shell, options).request({
    ...{ method: 'POST', path: `${pathOf(name, options)}/${action}`, isUnrecorded: true },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { fields } = answer;
  const took = `${String(fields.any('durationMs'))} ms`;
  printAnswer(shell, options, answer, () => {
    if (fields.text('outcome') !== 'delivered') return '';
    return `The receiver answered ${String(fields.any('status'))} after ${took}.\n`;
  });
  if (fields.text('outcome') === 'delivered') return;
  const said = fields.optionalText('answer');
  const detail = said === undefined || said === '' ? '' : ` It said: ${shorten(said, 200)}`;
  throw new CliError(`${fields.optionalText('error') ?? 'The message was not delivered.'}${detail}`);
}
