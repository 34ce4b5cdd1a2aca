import { isRolloutPct } from '@halyard/protocol';
import { usageError } from './cli-error.ts';
import { Fields, isJsonText } from './fields.ts';
import { option, toggle, type ValuesOf } from './options.ts';
import { printable, shortJson } from './output.ts';
import { quoteWord } from './shell.ts';

/** `--on`, `--off`, `--[no-]value` and `--[no-]rollout` */
export const STATE = {
  on: toggle('Turn the flag on'),
  off: toggle('Turn the flag off'),
  value: option('<json>', 'Set the value, as JSON', { no: 'Remove the value' }),
  rollout: option('<percent>', 'While on, limit it to this share of targeting keys: 0 to 100', {
    no: 'Remove the rollout: while on, on for everyone',
  }),
};

/** What a command line says about a flag state; `false` stands for `--no-…`. */
export type StateOptions = ValuesOf<typeof STATE>;

/**
 * The body of a PATCH that changes a flag state, as text: the value goes to the server exactly as written, so that key
 * order and number notation are kept. Throws a usage error if the options are invalid.
 */
export function patchBody(options: StateOptions): string {
  const members: string[] = [];
  const unset: string[] = [];

  if (options.on && options.off) throw usageError('--on and --off cannot be used together.');
  if (options.on || options.off) members.push(`"enabled":${options.on === true}`);
  if (options.value === false) unset.push('value');
  else if (options.value !== undefined) members.push(`"value":${checkedValue(options.value)}`);
  if (options.rollout === false) unset.push('rolloutPct');
  else if (options.rollout !== undefined) members.push(`"rolloutPct":${checkedRollout(options.rollout)}`);

  if (unset.length > 0) members.push(`"unset":${JSON.stringify(unset)}`);
  if (members.length === 0) throw usageError('Nothing to change. Add --on, --off, --value or --rollout.');
  return `{${members.join(',')}}`;
}

function checkedValue(text: string): string {
  if (isJsonText(text)) return text.trim();
  const quoted = quoteWord(JSON.stringify(text));
  throw usageError(`--value must be JSON. Quote a string for the shell as well: --value ${quoted}`);
}

function checkedRollout(text: string): string {
  const percent = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (isRolloutPct(percent)) return String(percent);
  throw usageError(
    `--rollout must be a percentage from 0 to 100 with at most three decimals, not "${text}".`,
  );
}

/** A flag state in words: `on`, `on, 25%`, `off, value {"a":1}`, `on, value "green" (treatment)`, `not set`. */
export function describeState(state: unknown, valueName?: string): string {
  if (state === undefined || state === null) return 'not set';
  const words = describePatch(new Fields(state));
  return valueName === undefined ? words : `${words} (${printable(valueName)})`;
}

/** The parts of a state that a change sets or removes, in the same words: `on, 25%, no value`. */
export function describePatch(fields: Fields): string {
  const parts: string[] = [];
  const enabled = fields.any('enabled');
  if (enabled !== undefined) parts.push(enabled === true ? 'on' : 'off');
  const rollout = fields.any('rolloutPct');
  if (rollout !== undefined) parts.push(`${rollout}%`);
  const value = fields.any('value');
  if (value !== undefined) parts.push(`value ${shortJson(value)}`);
  const unset = fields.any('unset') === undefined ? [] : fields.texts('unset');
  if (unset.includes('rolloutPct')) parts.push('no rollout');
  if (unset.includes('value')) parts.push('no value');
  return parts.join(', ');
}

/** `before -> after` of a state that changed. */
export function describeStep(before: unknown, after: unknown): string {
  const [from, to] = [describeState(before), describeState(after)];
  // Equal texts differ beyond the end of a long value.
  return from === to ? `${to} (value changed)` : `${from} -> ${to}`;
}

/** Flag states by key, as in one frame of a stream. */
export type States = ReadonlyMap<string, unknown>;

/** The changes between two frames, one line per flag, sorted by key. */
export function describeChanges(before: States, after: States): string[] {
  const keys = [...new Set([...before.keys(), ...after.keys()])].sort();
  return keys.flatMap((key) => {
    const [old, now] = [before.get(key), after.get(key)];
    if (JSON.stringify(old) === JSON.stringify(now)) return [];
    const name = printable(key);
    if (old === undefined) return [`+ ${name}: ${describeState(now)}`];
    if (now === undefined) return [`- ${name} (was ${describeState(old)})`];
    return [`~ ${name}: ${describeStep(old, now)}`];
  });
}
