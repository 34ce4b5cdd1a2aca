import { isRecord } from './flag-state.ts';
import type { Parsed } from './requests.ts';

/** Where clients report how often they read each flag. (Spec: S17.3) */
export const USAGE_PATH = '/usage/v1';

/** Seconds between two reports of a client; travels as `X-Flags-Usage`. (Spec: S17.1) */
export const USAGE_SECONDS = 60;

/** The text of the comment that tells an open stream that its project now wants reports. (Spec: S17.2) */
export const USAGE_COMMENT = `usage ${USAGE_SECONDS}`;

/** Greatest size of a report's body, in bytes. */
export const MAX_USAGE_BYTES = 256 * 1024;

/** Most flags that one report may count. */
export const MAX_USAGE_FLAGS = 1000;

/** Greatest count of one outcome in a report. */
export const MAX_USAGE_COUNT = 1e9;

/** How often one flag was read: how often it was on for the reader, and how often off. */
export type FlagReads = readonly [flagKey: string, on: number, off: number];

/** The body of a report. */
export interface UsageReport {
  readonly env: string;
  readonly flags: readonly FlagReads[];
}

/** Reads a report from a JSON text. Members it does not know are ignored. (Spec: S17.3, S17.5) */
export function parseUsageReport(text: string): Parsed<UsageReport> {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return problem('The body is not valid JSON: send { "env": string, "flags": { … } }.');
  }
  if (!isRecord(data))
    return problem('The body is not a JSON object: send { "env": string, "flags": { … } }.');
  const { env, flags } = data;
  if (typeof env !== 'string' || env === '')
    return problem('"env" is missing or not a string: name one environment.');
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

function problem(text: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem: text };
}
