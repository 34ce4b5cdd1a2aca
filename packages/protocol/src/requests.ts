/** Most keys one batch read may name. */
export const MAX_BATCH_KEYS = 1000;

/** Greatest size of a batch read's body, in bytes. */
export const MAX_BATCH_BYTES = 256 * 1024;

/** The body of `POST /v1/flags/batch`. (Spec: S4.4) */
export interface BatchRequest {
  readonly env: string;
  readonly keys: readonly string[];
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
  const values = new URLSearchParams(query).getAll('env');
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

/** Whether the `env` of a query holds an escape that does not decode to UTF-8, which URLSearchParams lets pass. */
function isBroken(query: string): boolean {
  const pair = query.split('&').find((each) => new URLSearchParams(each).has('env')) ?? '';
  try {
    decodeURIComponent(pair);
    return false;
  } catch {
    return true;
  }
}

/** Reads a batch request from a JSON text. Members it does not know are ignored. */
export function parseBatchRequest(text: string): Parsed<BatchRequest> {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return problem('The body is not valid JSON: send { "env": string, "keys": string[] }.');
  }
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    return problem('The body is not a JSON object: send { "env": string, "keys": string[] }.');
  }
  const { env, keys } = data as { env?: unknown; keys?: unknown };
  if (typeof env !== 'string' || env === '')
    return problem('"env" is missing or not a string: name one environment.');
  if (!Array.isArray(keys) || !keys.every((key) => typeof key === 'string')) {
    return problem('"keys" is missing or not an array of strings: list the flag keys to read.');
  }
  if (keys.length > MAX_BATCH_KEYS) {
    return problem(`"keys" has ${keys.length} entries: at most ${MAX_BATCH_KEYS} are read at once.`);
  }
  return { ok: true, value: { env, keys } };
}

function problem(text: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem: text };
}
