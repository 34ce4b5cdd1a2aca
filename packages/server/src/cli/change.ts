import { type Command, Option } from 'commander';
import { wholeNumber } from '../config/setting-readers.ts';
import { type ApiAnswer, type ApiClient, type ApiRequest, apiPath } from './api-client.ts';
import { CliError, usageError } from './cli-error.ts';
import type { Fields } from './fields.ts';
import {
  addConnectionOptions,
  addRedirect,
  type CommandOptions,
  checkedOption,
  connect,
  NOTE_HELP,
  noteHeader,
  parsePastTime,
} from './options.ts';
import { formatTable, printAnswer, printList, shortJson, shortTime } from './output.ts';
import type { Shell } from './shell.ts';

interface RevertOptions extends CommandOptions {
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly note?: string;
}

interface AuditOptions extends CommandOptions {
  readonly project?: string;
  readonly env?: string;
  readonly target?: string;
  readonly actor?: string;
  readonly action?: string;
  readonly since?: string;
  readonly until?: string;
  readonly before?: string;
  readonly limit?: string;
  readonly format?: 'ndjson';
}

/** `halyard change show|revert` */
export function defineChange(change: Command, shell: Shell): void {
  change.description('Show or revert a change. Run "halyard audit" to see the numbers of changes.');
  addRedirect(change, 'list', 'Changes are listed by "halyard audit".');
  addConnectionOptions(change.command('show <seq>').description('Show everything that a change did.')).action(
    async (seq: string, options: CommandOptions) => {
      const answer = await connect(shell, options).request({ path: apiPath`/changes/${checkedSeq(seq)}` });
      printAnswer(shell, options, answer, describeChange);
    },
  );
  addConnectionOptions(
    change
      .command('revert <seq>')
      .description('Revert a change completely or not at all. The revert is a new change.')
      .option('--dry-run', 'Show what would be reverted')
      .option('--force', 'Overwrite later changes')
      .option('--note <text>', NOTE_HELP)
      .addHelpText('after', '\nExample:\n  halyard change revert 1042 --note "errors went up"'),
  ).action((seq: string, options: RevertOptions) => revertChange(shell, seq, options));
}

function describeChange(fields: Fields): string {
  const head = `Change ${fields.number('seq')}, ${shortTime(fields.text('at'))}, by ${fields.text('actor')}\n`;
  const note = fields.optionalText('note');
  const rows = fields
    .list('entries')
    .map((entry) => [
      entry.text('action'),
      placeOf(entry),
      entry.text('target'),
      shortJson(entry.any('before')),
      shortJson(entry.any('after')),
    ]);
  const table = formatTable(['ACTION', 'WHERE', 'TARGET', 'BEFORE', 'AFTER'], rows);
  return head + (note === undefined ? '' : `${note}\n`) + table;
}

async function revertChange(shell: Shell, seq: string, options: RevertOptions): Promise<void> {
  const answer = await connect(shell, options).request({
    method: 'POST',
    path: apiPath`/changes/${checkedSeq(seq)}/revert`,
    query: { dryRun: options.dryRun ? 'true' : undefined },
    body: JSON.stringify({ force: options.force === true }),
    headers: noteHeader(options.note),
  });
  printAnswer(shell, options, answer, (fields) => {
    const differences = fields.list('differences');
    if (differences.length === 0) return 'Nothing to revert: everything is as it was before.\n';
    const revert = fields.any('seq');
    const last =
      revert === undefined ? 'Dry run: nothing was reverted.' : `Reverted change ${seq} (change ${revert}).`;
    return `${formatTable(['WHERE', 'NOW', 'BEFORE'], differences.map(describeDifference))}${last}\n`;
  });
}

function describeDifference(difference: Fields): string[] {
  const place = [difference.optionalText('key'), difference.optionalText('environment')]
    .filter((part) => part !== undefined)
    .join(' in ');
  return [place, shortJson(difference.any('before')), shortJson(difference.any('after'))];
}

function placeOf(entry: Fields): string {
  return [entry.optionalText('project'), entry.optionalText('environment')].filter(Boolean).join('/');
}

function checkedSeq(seq: string): string {
  if (/^\d{1,15}$/.test(seq)) return seq;
  throw usageError(`"${seq}" is not the number of a change. Run "halyard audit" to see the numbers.`);
}

/** Most entries in one answer. */
const MAX_ENTRIES = 1000;
/** The largest number of an entry that keeps its digits. */
const MAX_SEQ = 999_999_999_999_999;

/** `halyard audit` */
export function defineAudit(audit: Command, shell: Shell): void {
  addConnectionOptions(
    audit
      .option('--project <project>', 'Show this project only')
      .option('--env <environment>', 'Show this environment only; needs --project')
      .option('--target <name>', 'Show this flag, key id or name only')
      .option('--actor <name>', 'Show changes by this actor only, such as operator:ada@example.com')
      .option(
        '--action <action>',
        'Show this action only, such as flag.archived, or all of a noun, such as flag',
      )
      .option('--since <when>', 'Show changes since 90m, 12h, 30d or 4w ago, or 2027-01-31T09:00:00Z')
      .option('--until <when>', 'Show changes before this time, written as for --since')
      .option('--before <seq>', 'Show entries older than this one, for the next page')
      .option('--limit <n>', 'Show this many entries, and the rest of the last change (default 20)')
      .addOption(
        new Option('--format <format>', 'Print all entries that match, each as a line of JSON').choices([
          'ndjson',
        ]),
      )
      .addHelpText(
        'after',
        '\nExamples:\n  halyard audit --project shop --env production --target new-checkout\n' +
          '  halyard audit --since 24h --action operator\n' +
          '  halyard audit --since 2027-01-01T00:00:00Z --format ndjson > audit.ndjson',
      ),
  ).action(async (options: AuditOptions) => {
    const { project, env: environment, target, actor, action, before, limit = '20', format } = options;
    if (format !== undefined && options.limit !== undefined)
      throw usageError('--format ndjson prints all entries. Remove --limit.');
    // The server would read an empty text, as from an unset variable, as 0.
    if (before !== undefined) checkedOption('--before', before, wholeNumber(1, MAX_SEQ, '<seq>'));
    checkedOption('--limit', limit, wholeNumber(1, MAX_ENTRIES, '<n>'));
    const [since, until] = (['since', 'until'] as const).map((name) => {
      const text = options[name];
      return text === undefined ? undefined : parsePastTime(text, shell.now(), `--${name}`);
    });
    const filter = { project, environment, target, actor, action, since, until, before };
    if (format !== undefined) return exportEntries(shell, connect(shell, options), { ...filter, format });
    const query = { ...filter, limit };
    const pages = newestEntries(connect(shell, options), query, Number(limit));
    await printList(shell, options, pages, {
      member: 'entries',
      headings: ['SEQ', 'TIME', 'ACTOR', 'ACTION', 'WHERE', 'TARGET', 'NOTE'],
      row: (item) => [
        `${item.number('seq')}`,
        shortTime(item.optionalText('at')),
        item.text('actor'),
        item.text('action'),
        placeOf(item),
        item.text('target'),
        item.optionalText('note') ?? '',
      ],
      empty: 'No changes match.',
      more: (last) => `Older entries: --before ${last.number('seq')}`,
    });
  });
}

/** Writes all entries as they come, so that they need not fit into memory. */
async function exportEntries(
  shell: Shell,
  client: ApiClient,
  query: NonNullable<ApiRequest['query']>,
): Promise<void> {
  const { body } = await client.open({ path: apiPath`/audit`, query }, new AbortController().signal);
  const decoder = new TextDecoder();
  try {
    for await (const bytes of body ?? []) shell.write(decoder.decode(bytes, { stream: true }));
  } catch (cause) {
    throw new CliError('The export ended early: entries are missing at its end. Run it again.', { cause });
  }
}

/** At least so many entries, if there are as many: one answer may have fewer when the search takes long. */
async function* newestEntries(
  client: ApiClient,
  query: ApiRequest['query'],
  count: number,
): AsyncGenerator<ApiAnswer, void, undefined> {
  let cursor: string | undefined;
  for (let left = count; left > 0; ) {
    const answer = await client.request({
      path: apiPath`/audit`,
      query: { ...query, limit: `${left}`, cursor },
    });
    left -= answer.fields.list('entries').length;
    cursor = answer.fields.optionalText('next');
    yield answer;
    if (cursor === undefined) return;
  }
}

/** `halyard delivery` */
export function defineDelivery(delivery: Command, shell: Shell): void {
  addConnectionOptions(
    delivery
      .argument('<seq>')
      .description('Show how many open streams received a change, and how fast.')
      .addHelpText(
        'after',
        '\nEvery write returns its "seq", and "halyard audit" lists them. A stream has received a change once its ' +
          'connection\ntook the data; whether the application has read it, only the application knows.',
      ),
  ).action(async (seq: string, options: CommandOptions) => {
    const path = apiPath`/changes/${checkedSeq(seq)}/delivery`;
    printAnswer(shell, options, await connect(shell, options).request({ path }), describeDelivery);
  });
}

function describeDelivery(delivery: Fields): string {
  const place = `Revision ${delivery.number('revision')} of ${delivery.text('environment')} of ${delivery.text('project')}`;
  const streams = delivery.number('streams');
  const share = `seen by ${delivery.number('seen')} of ${streams} ${streams === 1 ? 'stream' : 'streams'}`;
  const rows = delivery
    .list('nodes')
    .map((node) => [
      node.text('node'),
      `${node.number('streams')}`,
      `${node.number('seen')}`,
      `${node.number('slowestMs')} ms`,
    ]);
  const table = formatTable(['NODE', 'STREAMS', 'SEEN', 'SLOWEST'], rows);
  return `${place}: ${share}, slowest ${delivery.number('slowestMs')} ms.\n${table}`;
}
