import type { Platform } from './platform.ts';
import type { Load } from './rest.ts';
import type { ReadCounts } from './usage.ts';

/** How a client learns of changes. */
export type Mode = 'stream' | 'poll' | 'manual';

/** Everything a connection needs to know; made from the options once. */
export interface Target {
  readonly platform: Platform;
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly environment: string;
  readonly mode: Mode;
  /** Those of every request, the key among them. */
  readonly headers: Headers;
  /** Whether requests carry nothing of the application's: no key, no headers, not its `fetch`. Then tabs may share. */
  readonly isPlain: boolean;
  readonly requestTimeoutMs: number;
  readonly pollIntervalMs: number;
  readonly staleAfterMs: number;
  /** Says what the connection does, to a log that asked for details. Never throws. */
  readonly note: (message: string) => void;
  /** Takes the project key out of a text. */
  readonly redact: (text: string) => string;
  /** Loads all flags. */
  readonly loadMap: Load;
  /** Where the published files are that `loadMap` reads while no node answers. */
  readonly published?: string;
  /** How often flags were read since the last report; absent unless the server asks for reports. */
  counts: ReadCounts | undefined;
  /** Gives what sends the last report, once that is loaded. */
  lastReport?: Promise<void | (() => Promise<void>)>;
}
