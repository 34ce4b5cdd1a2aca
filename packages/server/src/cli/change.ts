import { apiPath } from './api-client.ts';
import { usageError } from './cli-error.ts';
import { type CliCommand, command, redirect } from './command.ts';
import type { Fields } from './fields.ts';
import { NOTE, toggle, WISH } from './options.ts';
import { formatTable, shortJson, shortTime } from './output.ts';

/** `halyard change show|revert` */
export const changeCommands: readonly CliCommand[] = [
  redirect('list', 'Changes are listed by "halyard audit".'),
  command({
    usage: 'show <seq>',
    about: 'Show everything that a change did.',
    request: ({ seq }) => ({ path: apiPath`/changes/${checkedSeq(seq)}` }),
    answer: (fields, { seq }) => describeChange(fields, seq),
  }),
  command({
    usage: 'revert <seq>',
    about: 'Revert a change completely or not at all. The revert is a new change.',
    options: {
      dryRun: toggle('Show what would be reverted'),
      force: toggle('Overwrite later changes'),
      note: NOTE,
      ...WISH,
    },
    examples: ['halyard change revert 1042 --note "errors went up"'],
    request: ({ seq, dryRun, force, note }) => ({
      method: 'POST',
      path: apiPath`/changes/${checkedSeq(seq)}/revert`,
      query: { dryRun: dryRun ? 'true' : undefined },
      body: { force: force === true },
      note,
    }),
    answer: (fields, { seq }) => {
      const differences = fields.list('differences');
      if (differences.length === 0) return 'Nothing to revert: everything is as it was before.\n';
      const revert = fields.any('seq');
      const last =
        revert === undefined
          ? 'Dry run: nothing was reverted.'
          : `Reverted change ${seq} (change ${revert}).`;
      return `${formatTable(['WHERE', 'NOW', 'BEFORE'], differences.map(describeDifference))}${last}\n`;
    },
  }),
];

/** `halyard delivery` */
export const deliveryCommand = command({
  usage: 'delivery <seq>',
  about: 'Show how many open streams received a change, and how fast.',
  help:
    'Every write returns its "seq", and "halyard audit" lists them. A stream has received a change once its ' +
    'connection\ntook the data; whether the application has read it, only the application knows.',
  request: ({ seq }) => ({ path: apiPath`/changes/${checkedSeq(seq)}/delivery` }),
  answer: describeDelivery,
});

/** `asked` may be the number of any of its entries. */
function describeChange(fields: Fields, asked: string): string {
  const seq = fields.number('seq');
  const whose = Number(asked) === seq ? '' : ` (with the entry ${asked})`;
  const head = `Change ${seq}${whose}, ${shortTime(fields.text('at'))}, by ${fields.text('actor')}\n`;
  const note = fields.optionalText('note');
  return head + (note === undefined ? '' : `${note}\n`) + effectsTable(fields.list('entries'));
}

/** What each entry of a change does, or will do. */
export function effectsTable(entries: readonly Fields[]): string {
  const rows = entries.map((entry) => [
    entry.text('action'),
    placeOf(entry),
    entry.text('target'),
    shortJson(entry.any('before')),
    shortJson(entry.any('after')),
  ]);
  return formatTable(['ACTION', 'WHERE', 'TARGET', 'BEFORE', 'AFTER'], rows);
}

function describeDifference(difference: Fields): string[] {
  const place = [difference.optionalText('key'), difference.optionalText('environment')]
    .filter((part) => part !== undefined)
    .join(' in ');
  return [place, shortJson(difference.any('before')), shortJson(difference.any('after'))];
}

/** The project and environment of an entry: `shop/production`. */
export function placeOf(entry: Fields): string {
  return [entry.optionalText('project'), entry.optionalText('environment')].filter(Boolean).join('/');
}

function checkedSeq(seq: string): string {
  if (/^\d{1,15}$/.test(seq)) return seq;
  throw usageError(`"${seq}" is not the number of a change. Run "halyard audit" to see the numbers.`);
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
