import { wholeNumber } from '../config/setting-readers.ts';
import { type ApiAnswer, type ApiClient, type ApiRequest, apiPath } from './api-client.ts';
import { followAudit } from './audit-follow.ts';
import { verifyCommand } from './audit-verify.ts';
import { placeOf } from './change.ts';
import { CliError, usageError } from './cli-error.ts';
import { command, connect } from './command.ts';
import { type CONNECTION, checkedOption, option, toggle, type ValuesOf } from './options.ts';
import { printList, shortTime } from './output.ts';
import type { Shell } from './shell.ts';
import { parsePastTime } from './times.ts';

/** Most entries in one answer. */
const MAX_ENTRIES = 1000;

/** The largest number of an entry that keeps its digits. */
const MAX_SEQ = 999_999_999_999_999;

const OPTIONS = {
  project: option('<project>', 'Show this project only'),
  env: option('<environment>', 'Show this environment only; needs --project'),
  target: option('<name>', 'Show this flag, key id or name only'),
  actor: option('<name>', 'Show changes by this actor only, such as operator:ada@example.com'),
  action: option('<action>', 'Show this action only, such as flag.archived, or all of a noun, such as flag'),
  since: option(
    '<when>',
    'Show changes since 90m, 12h, 30d or 4w ago, or 2027-01-31T09:00:00Z; with --follow, show entries after this number or cursor',
  ),
  until: option('<when>', 'Show changes before this time, written as for --since'),
  before: option('<seq>', 'Show entries older than this one, for the next page'),
  limit: option('<n>', 'Show this many entries, and the rest of the last change (default 20)'),
  format: option('<format>', 'Print all entries that match, each as a line of JSON', { choices: ['ndjson'] }),
  follow: toggle('Print new entries as they are written, oldest first, until you press Ctrl+C'),
};

/** What a command line of `halyard audit` gives. */
export type AuditOptions = ValuesOf<typeof OPTIONS & typeof CONNECTION>;

/** `halyard audit` */
export const auditCommand = command({
  usage: 'audit',
  about: 'List changes, newest first: who changed what, and when.',
  commands: [verifyCommand],
  options: OPTIONS,
  examples: [
    'halyard audit --project shop --env production --target new-checkout',
    'halyard audit --since 24h --action operator',
    'halyard audit --since 2027-01-01T00:00:00Z --format ndjson > audit.ndjson',
    'halyard audit --follow --since 812 --format ndjson      entries after 812, then new ones',
  ],
  run: async (input, shell) => {
    if (input.follow) return await followAudit(shell, input);
    const { project, env: environment, target, actor, action, before, limit = '20', format } = input;
    if (format !== undefined && input.limit !== undefined)
      throw usageError('--format ndjson prints all entries. Remove --limit.');
    // The server would read an empty text, as from an unset variable, as 0.
    if (before !== undefined) checkedOption('--before', before, wholeNumber(1, MAX_SEQ, '<seq>'));
    checkedOption('--limit', limit, wholeNumber(1, MAX_ENTRIES, '<n>'));
    const [since, until] = (['since', 'until'] as const).map((name) => {
      const text = input[name];
      return text === undefined ? undefined : parsePastTime(text, shell.now(), `--${name}`);
    });

    const filter = { project, environment, target, actor, action, since, until, before };
    const client = connect(shell, input);
    if (format !== undefined) return await exportEntries(shell, client, { ...filter, format });

    await printList(shell, input, newestEntries(client, filter, Number(limit)), {
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
  },
});

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

/** Asks until it has `count` entries or the log ends: one answer may have fewer when the search takes long. */
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
