import { isRecord } from './flag-state.ts';
import { CHANGES_PARAMETER } from './map-change.ts';
import { type FlagReads, MAX_USAGE_COUNT, MAX_USAGE_FLAGS } from './usage.ts';

/** Most keys one batch read may name. */
export const MAX_BATCH_KEYS = 1000;

/** Greatest size of a batch read's body, in bytes. */
export const MAX_BATCH_BYTES = 256 * 1024;

/** The body of `POST /v1/flags/batch`. (Spec: S4.4) */
export interface BatchRequest {
  readonly env: string;
  readonly keys: readonly string[];
}

/** The body of `POST /usage/v1`. (Spec: S17.3) */
export interface UsageReport {
  readonly env: string;
  readonly flags: readonly FlagReads[];
}

/** Either what was read, or a sentence that says what was wrong and what would be right. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string };

/** A query of nothing but a plainly written `env`: what nearly every request sends. */
const PLAIN_ENV_QUERY = /^env=([A-Za-z0-9._-]+)$/;

/** Reads the one `env` of a query string (without `?`). Missing, empty, repeated and wrongly escaped are refused. */
export function parseEnvQuery(query: string): Parsed<string> {
  const plain = PLAIN_ENV_QUERY.exec(query)?.[1];
  if (plain !== undefined) return { ok: true, value: plain };
  const values = parametersOf(query).getAll('env');
  const [env] = values;
  if (env === undefined || env === '') {
    return problem('The query parameter "env" is missing: add ?env=<environment name>.');
  }
  if (values.length > 1) {
    return problem('The query parameter "env" is given more than once: name exactly one environment.');
  }
  if (isBroken(query)) {
    return problem('The query parameter "env" has a broken percent-escape: encode it as UTF-8.');
  }
  return { ok: true, value: env };
}

/** Whether the query of a stream (without `?`) asks for changes. Any other value than `1`, and two of them, are refused. (Spec: S26.1) */
export function parseChangesQuery(query: string): Parsed<boolean> {
  const [changes, ...more] = parametersOf(query).getAll(CHANGES_PARAMETER);
  if (changes === undefined) return { ok: true, value: false };
  if (changes === '1' && more.length === 0) return { ok: true, value: true };
  return problem('The query parameter "changes" takes one value, 1: leave it out to get whole maps.');
}

/** Whether the `env` of a query holds an escape that does not decode to UTF-8, which URLSearchParams lets pass. */
function isBroken(query: string): boolean {
  const pair = query.split('&').find((each) => parametersOf(each).has('env')) ?? '';
  try {
    decodeURIComponent(pair);
    return false;
  } catch {
    return true;
  }
}

/** The parameters of a query without its `?`: another one at its start belongs to a name, but would be dropped. */
function parametersOf(query: string): URLSearchParams {
  return new URLSearchParams(`?${query}`);
}

/** Reads a batch request from a JSON text. Members it does not know are ignored. */
export function parseBatchRequest(text: string): Parsed<BatchRequest> {
  const body = parseEnvBody(text, '{ "env": string, "keys": string[] }');
  if (!body.ok) return body;
  const { env, members } = body.value;
  const { keys } = members;
  if (!Array.isArray(keys) || !keys.every((key) => typeof key === 'string')) {
    return problem('"keys" is missing or not an array of strings: list the flag keys to read.');
  }
  if (keys.length > MAX_BATCH_KEYS) {
    return problem(`"keys" has ${keys.length} entries: at most ${MAX_BATCH_KEYS} are read at once.`);
  }
  return { ok: true, value: { env, keys } };
}

/** Reads a report from a JSON text. Members it does not know are ignored. (Spec: S17.3, S17.5) */
export function parseUsageReport(text: string): Parsed<UsageReport> {
  const body = parseEnvBody(text, '{ "env": string, "flags": { … } }');
  if (!body.ok) return body;
  const { env, members } = body.value;
  const { flags } = members;
  if (!isRecord(flags)) return problem('"flags" is missing or not an object: send counts by flag key.');
  const entries = Object.entries(flags);
  if (entries.length > MAX_USAGE_FLAGS)
    return problem(`"flags" has ${entries.length} members: at most ${MAX_USAGE_FLAGS} are counted at once.`);
  const reads: FlagReads[] = [];
  for (const [key, counts] of entries) {
    const { on = 0, off = 0 } = isRecord(counts) ? counts : { on: Number.NaN };
    if (!isCount(on) || !isCount(off))
      return problem(`The counts of a flag are { "on"?: n, "off"?: n }, each from 0 to ${MAX_USAGE_COUNT}.`);
    if (on + off > 0) reads.push([key, on, off]);
  }
  return { ok: true, value: { env, flags: reads } };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= MAX_USAGE_COUNT;
}

/** Reads a body that names an environment. `shape` tells the caller what to send. */
function parseEnvBody(
  text: string,
  shape: string,
): Parsed<{ readonly env: string; readonly members: Readonly<Record<string, unknown>> }> {
  let members: unknown;
  try {
    members = JSON.parse(text);
  } catch {
    return problem(`The body is not valid JSON: send ${shape}.`);
  }
  if (!isRecord(members)) return problem(`The body is not a JSON object: send ${shape}.`);
  const { env } = members;
  if (typeof env !== 'string' || env === '')
    return problem('"env" is missing or not a string: name one environment.');
  return { ok: true, value: { env, members } };
}

function problem(text: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem: text };
}
