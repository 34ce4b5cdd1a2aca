import { placeOf } from './change.ts';
import type { Fields } from './fields.ts';
import { printable, shortTime } from './output.ts';
import { describeRights } from './rights.ts';

/** What a person has, as text: what ends when they are removed, and what stays. */
export function describeHoldings(holdings: Fields): string {
  const operator = holdings.fields('operator');
  const [ends, stays] = [holdings.fields('ends'), holdings.fields('stays')];

  const ending = [
    ...section('session', ends.list('sessions'), (one) => [
      `used ${shortTime(one.text('lastUsedAt'))}`,
      `ends ${shortTime(one.text('expiresAt'))}`,
    ]),
    ...section('own token', ends.list('tokens'), describeToken),
    ...section('link', ends.list('links'), (one) => [one.text('kind'), one.optionalText('email') ?? '']),
    ...section('schedule', ends.list('schedules'), (one) => [
      placeOf(one),
      `due ${shortTime(one.text('dueAt'))}`,
    ]),
    ...section('rollout plan', ends.list('plans'), (one) => [
      placeOf(one),
      one.text('flag'),
      one.text('status') === 'running' ? 'will be paused' : 'is paused already',
    ]),
    ...section('proposal', ends.list('proposals'), (one) => [
      one.text('project'),
      one.optionalText('note') ?? '',
    ]),
  ];

  const staying = [
    ...section('token created', stays.list('tokens'), describeToken),
    ...section('key created', stays.list('keys'), (one) => [
      one.text('project'),
      one.text('name'),
      `…${one.text('lastFour')}`,
    ]),
    ...section('flag owned', stays.list('flags'), (one) => [one.text('project'), one.text('key')]),
  ];

  const text = [
    `${operator.text('email')} (${operator.text('name')}): ${describeRights(operator)}`,
    `Ends with a removal:${ending.length === 0 ? ' nothing' : ''}`,
    ...ending,
    `Stays:${staying.length === 0 ? ' nothing' : ''}`,
    ...staying,
  ];
  return `${text.map(printable).join('\n')}\n`;
}

/** A line for each item of a kind, and nothing for a kind without items. */
function section(what: string, items: readonly Fields[], cells: (item: Fields) => readonly string[]) {
  return items.map(
    (item) =>
      `  ${what}: ${cells(item)
        .filter((cell) => cell !== '')
        .join(', ')}`,
  );
}

function describeToken(token: Fields): readonly string[] {
  return [token.text('name'), describeRights(token), `used ${shortTime(token.optionalText('lastUsedAt'))}`];
}
