import { type ApiClient, apiPath } from './api-client.ts';
import { CliError, usageError } from './cli-error.ts';
import { command, connect } from './command.ts';
import type { Fields } from './fields.ts';
import { option } from './options.ts';
import { shortTime, wantsJson } from './output.ts';

/** `halyard audit verify` */
export const verifyCommand = command({
  usage: 'verify',
  about: 'Verify that no entry of the audit log was changed, deleted or inserted in the database.',
  options: {
    head: option(
      '<seq>:<hash>',
      'Also verify that the log continues from this head, which an earlier run printed',
    ),
  },
  help:
    'Entries are chained by hash a few seconds after they are written. Anyone who can write to the database can also make a new\n' +
    'chain. To detect that, note the head in another place and pass it with --head. Without --head, a log that was cut off together\n' +
    'with its chain may look intact.',
  examples: ['halyard audit verify', 'halyard audit verify --head 812:4f1e…'],
  run: async (input, shell) => {
    const { head } = input;
    if (head !== undefined && !/^\d{1,15}:[0-9a-f]{64}$/.test(head))
      throw usageError('--head must be a number and 64 hexadecimal digits, as in 812:4f1e…');

    const found = await verify(connect(shell, input), head);
    if (wantsJson(shell, input)) shell.write(`${JSON.stringify(found)}\n`);
    else shell.write(describe(found, head));

    const isHeadLost = head !== undefined && !found.hasHead;
    if (found.problems.length > 0 || isHeadLost)
      throw new CliError(
        isHeadLost
          ? `The audit log does not continue from ${head}: it was changed, cut off, or restored from a backup since.`
          : 'The audit log is not as it was written.',
      );
  },
});

/** The findings of all calls together. */
type Found = Awaited<ReturnType<typeof verify>>;

async function verify(client: ApiClient, head: string | undefined) {
  const problems: ReturnType<typeof problemOf>[] = [];
  let [entries, blocks, hasHead] = [0, 0, false];
  for (let cursor: string | undefined; ; ) {
    const { fields } = await client.request({ path: apiPath`/audit/verification`, query: { head, cursor } });
    entries += fields.number('entries');
    blocks += fields.number('blocks');
    hasHead ||= fields.any('hasHead') === true;
    problems.push(...fields.list('problems').map(problemOf));

    cursor = fields.optionalText('next');
    if (cursor !== undefined) continue;
    return { entries, blocks, problems, ...(head === undefined ? {} : { hasHead }), ...endOf(fields) };
  }
}

/** What the last call says. */
function endOf(fields: Fields) {
  const end = fields.optionalFields('head');
  const isRedacted = fields.any('redactedThrough') !== undefined;
  return {
    unchained: fields.number('unchained'),
    ...(end && { head: `${end.number('seq')}:${end.text('hash')}`, headAt: end.text('at') }),
    ...(isRedacted && { redactedThrough: fields.number('redactedThrough') }),
  };
}

function problemOf(problem: Fields) {
  return {
    kind: problem.text('kind'),
    from: placeOf(problem.fields('from')),
    to: placeOf(problem.fields('to')),
  };
}

/** `812`, or `812-3` for another entry of that change than its first. */
function placeOf(place: Fields): string {
  const position = place.number('position');
  return position === 0 ? `${place.number('seq')}` : `${place.number('seq')}-${position}`;
}

function describe(
  { entries, blocks, problems, head, headAt, unchained, redactedThrough }: Found,
  asked: string | undefined,
): string {
  const lines = problems.map(sentenceOf);
  lines.push(
    `Compared ${count(entries, 'entry', 'entries')} in ${count(blocks, 'block', 'blocks')} of the chain.`,
  );
  if (problems.length === 0) lines[0] = `${lines[0]} All are as they were written.`;
  if (redactedThrough !== undefined)
    lines.push(`Personal data has been removed up to entry ${redactedThrough}.`);
  if (unchained > 0)
    lines.push(`${count(unchained, 'newer entry is', 'newer entries are')} not chained yet.`);
  if (head !== undefined) lines.push(`Head: ${head} (${shortTime(headAt)})`);
  if (asked === undefined && head !== undefined)
    lines.push('Note the head outside the database, for --head.');
  return lines.map((line) => `${line}\n`).join('');
}

function sentenceOf({ kind, from, to }: ReturnType<typeof problemOf>): string {
  const [which, were, are] =
    from === to ? [`Entry ${from}`, 'was', 'is'] : [`Entries ${from} to ${to}`, 'were', 'are'];
  switch (kind) {
    case 'changed':
      return `${which} ${were} changed.`;
    case 'missing':
      return `${which} ${are} missing.`;
    case 'inserted':
      return `${which} ${were} inserted.`;
    case 'block-changed':
      return `The block of the chain with ${which.toLowerCase()}, or the one before it, was changed.`;
    case 'block-missing':
      return `A block of the chain is missing between the entries ${from} and ${to}.`;
    case 'cut-off':
      return `The log was cut off: ${which.toLowerCase()} ${are} missing at its end.`;
    default:
      return `${which}: ${kind}.`;
  }
}

function count(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`;
}
