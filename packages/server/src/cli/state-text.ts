import { Fields } from './fields.ts';
import { printable } from './table.ts';

/** Most characters of a flag's value in one line. */
const VALUE_LENGTH = 60;

/** A flag state in words: `on`, `on for 25 %`, `off, value {"a":1}`; `absent` for none. */
export function describeState(state: unknown): string {
  if (state === undefined || state === null) return 'absent';
  return describePatch(new Fields(state));
}

/** The parts of a state that a change sets or removes, in the same words: `on, 25 %, no value`. */
export function describePatch(fields: Fields): string {
  const parts: string[] = [];
  const enabled = fields.any('enabled');
  if (enabled !== undefined) parts.push(enabled === true ? 'on' : 'off');
  const rollout = fields.any('rolloutPct');
  if (rollout !== undefined) parts.push(`${rollout} %`);
  const value = fields.any('value');
  if (value !== undefined) parts.push(`value ${shorten(JSON.stringify(value))}`);
  const unset = fields.any('unset') === undefined ? [] : fields.texts('unset');
  if (unset.includes('rolloutPct')) parts.push('no rollout');
  if (unset.includes('value')) parts.push('no value');
  return parts.join(', ');
}

/** `before -> after`, or what it is when nothing changed. */
export function describeStep(before: unknown, after: unknown): string {
  const [from, to] = [describeState(before), describeState(after)];
  if (from !== to) return `${from} -> ${to}`;
  // The difference is beyond what one line shows of a long value.
  return JSON.stringify(before) === JSON.stringify(after) ? `${to} (as it was)` : `${to} (value changed)`;
}

function shorten(text: string): string {
  const line = printable(text);
  return line.length <= VALUE_LENGTH ? line : `${line.slice(0, VALUE_LENGTH - 1)}…`;
}
