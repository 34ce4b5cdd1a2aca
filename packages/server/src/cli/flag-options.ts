import { isRolloutPct } from '@halyard/protocol';
import { CliError, EXIT } from './cli-error.ts';
import { isJsonText } from './json-text.ts';

/** What `flag set` can be told about the new state. */
export interface StateOptions {
  readonly on?: boolean;
  readonly off?: boolean;
  /** JSON text, or `false` for `--no-value`. */
  readonly value?: string | false;
  /** A number's text, or `false` for `--no-rollout`. */
  readonly rollout?: string | false;
}

/**
 * The body of a PATCH that changes a flag's state, as text: the value goes to the server exactly as it was written,
 * so that neither key order nor the notation of numbers is lost. Ends the command when the options make no sense.
 */
export function patchBody(options: StateOptions): string {
  const members: string[] = [];
  const unset: string[] = [];
  if (options.on && options.off) throw usage('--on and --off contradict each other: keep one of them.');
  if (options.on || options.off) members.push(`"enabled":${options.on === true}`);
  if (options.value === false) unset.push('value');
  else if (options.value !== undefined) members.push(`"value":${checkedValue(options.value)}`);
  if (options.rollout === false) unset.push('rolloutPct');
  else if (options.rollout !== undefined) members.push(`"rolloutPct":${checkedRollout(options.rollout)}`);
  if (unset.length > 0) members.push(`"unset":${JSON.stringify(unset)}`);
  if (members.length === 0) {
    throw usage('Nothing to set was given: add --on, --off, --value or --rollout.');
  }
  return `{${members.join(',')}}`;
}

function checkedValue(text: string): string {
  if (isJsonText(text)) return text.trim();
  const asString = JSON.stringify(text);
  const quoted = asString.includes("'") ? `'${asString.replaceAll("'", "'\\''")}'` : `'${asString}'`;
  throw usage(`--value must be JSON. For a text, quote it for the shell as well: --value ${quoted}`);
}

function checkedRollout(text: string): string {
  const percent = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (isRolloutPct(percent)) return String(percent);
  throw usage(`--rollout must be a percentage from 0 to 100 with at most three decimals, not "${text}".`);
}

/** The condition of a write: a revision the flag must still have, or `none` for a flag that must not exist yet. */
export function conditionHeaders(expect: string | undefined): Readonly<Record<string, string>> {
  if (expect === undefined) return {};
  if (expect === 'none') return { 'if-none-match': '*' };
  if (/^\d{1,15}$/.test(expect)) return { 'if-match': `"${expect}"` };
  throw usage(`--expect must be a revision, as "flag get" shows it, or none, not "${expect}".`);
}

function usage(message: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage });
}
