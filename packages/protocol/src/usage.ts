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
