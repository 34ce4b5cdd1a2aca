import type { Config } from './config.ts';
import {
  byteCount,
  emailAddress,
  folderPath,
  hostName,
  httpOrigin,
  httpUrl,
  oneOf,
  onOff,
  originList,
  passwordText,
  postgresUrl,
  type SettingReader,
  secretText,
  wholeNumber,
} from './setting-readers.ts';

/** One setting of a node: how it is read, what it is without being set, and what it does. */
export interface Setting<Value> {
  readonly reader: SettingReader<Value>;
  /** As it would be written; absent where the setting is off by default. */
  readonly default?: string;
  /** What the number counts; absent for everything else. */
  readonly unit?: string;
  /** What it does, in one sentence. */
  readonly sentence: string;
  /**
   * A secret is never printed and can be read from a file. `hidden` ones have no flag for the secret itself, only one
   * for the file: command lines are visible to every user of the machine.
   */
  readonly secret?: 'shown-in-flag' | 'hidden';
}

/** The name of a setting: the member of `Config` it becomes. */
export type SettingName = keyof Config;

/** How a setting is read whose value in `Config` is `Value`; `logFormat` alone knows one word more, `auto`. */
type SettingOf<Name extends SettingName> = Setting<
  Name extends 'logFormat' ? 'auto' | 'json' | 'pretty' : Exclude<Config[Name], undefined>
>;

/** Every setting of `halyard serve`, in the order of help texts and documentation. */
export const SETTINGS: { readonly [Name in SettingName]-?: SettingOf<Name> } = {
  port: {
    reader: wholeNumber(0, 65535, '<port>'),
    default: '7070',
    sentence: 'The port to listen on; 0 takes any free one.',
  },
  host: {
    reader: hostName,
    default: '127.0.0.1',
    sentence: 'The address to listen on; 0.0.0.0 or :: to be reachable from other machines.',
  },
  data: {
    reader: folderPath,
    default: './halyard-data',
    sentence:
      'The data folder: the SQLite database and the file admin-token; with a database URL only the latter.',
  },
  databaseUrl: {
    reader: postgresUrl,
    secret: 'shown-in-flag',
    sentence: 'The PostgreSQL to use instead of SQLite, so that several nodes can share it.',
  },
  databasePoolSize: {
    reader: wholeNumber(1, 100, '<n>'),
    default: '4',
    unit: 'connections',
    sentence: 'PostgreSQL connections for reads and writes of the management API; one more listens.',
  },
  bare: {
    reader: onOff,
    default: 'false',
    sentence: 'Start empty: make no demo project, flags and key at the first start.',
  },
  adminToken: {
    reader: secretText,
    secret: 'hidden',
    sentence:
      'A token that may do everything in the management API; by default one is made in the data folder.',
  },
  publicUrl: {
    reader: httpOrigin,
    sentence:
      "Where people reach the dashboard, for links to it, without a path; by default this node's own address.",
  },
  adminEmail: {
    reader: emailAddress,
    sentence: 'The e-mail of the first administrator, made when there is nobody who can sign in.',
  },
  adminPassword: {
    reader: passwordText,
    secret: 'hidden',
    sentence: 'The password of that first administrator; read only while there is nobody who can sign in.',
  },
  docsUrl: {
    reader: httpUrl,
    sentence: 'Where error answers say their documentation is; by default under /docs of this very server.',
  },
  managementPort: {
    reader: wholeNumber(0, 65535, '<port>'),
    sentence:
      'A port of its own for dashboard, management API and metrics; by default they share the main one.',
  },
  managementHost: {
    reader: hostName,
    sentence: 'The address the management port listens on; by default the same as the main one.',
  },
  metricsToken: {
    reader: secretText,
    secret: 'hidden',
    sentence: 'The bearer token that /metrics asks for; by default it is open.',
  },
  corsOrigins: {
    reader: originList,
    sentence: 'The origins whose pages may call /v1 from a browser.',
  },
  trustProxy: {
    reader: onOff,
    default: 'false',
    sentence:
      "Believe X-Forwarded-For for callers' addresses and X-Forwarded-Host for the origin of pages; only behind a proxy that sets them.",
  },
  rateLimit: {
    reader: wholeNumber(1, 1_000_000, '<n>'),
    unit: 'requests per second',
    sentence: 'How often one project key may ask before it is answered 429.',
  },
  maxStreamsPerKey: {
    reader: wholeNumber(1, 1_000_000, '<n>'),
    unit: 'streams',
    sentence: 'How many streams one project key may hold open on this node before it is answered 429.',
  },
  maxQueuedBytes: {
    reader: byteCount(1024),
    default: '1MiB',
    unit: 'bytes',
    sentence:
      'How much may wait for a slow reader of a stream before it is cut off; eight frames always may.',
  },
  maxStaleSeconds: {
    reader: wholeNumber(1, 604_800, '<seconds>'),
    unit: 'seconds',
    sentence:
      'How old answers may become while the database is lost before reads fail with 500; by default never.',
  },
  drainSeconds: {
    reader: wholeNumber(0, 3600, '<seconds>'),
    default: '10',
    unit: 'seconds',
    sentence: 'How long a stop may take: the open streams are closed spread over this time.',
  },
  reusePort: {
    reader: onOff,
    default: 'false',
    sentence: 'Let several processes listen on the same port (Linux).',
  },
  logLevel: {
    reader: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], '<level>'),
    default: 'info',
    sentence: 'The least important log lines to write: trace, debug, info, warn, error, fatal or silent.',
  },
  logFormat: {
    reader: oneOf(['auto', 'json', 'pretty'], '<format>'),
    default: 'auto',
    sentence:
      'json: lines on standard output; pretty: for people, on standard error; auto: pretty on a terminal.',
  },
};

/** The names of all settings, in order. */
// Object.keys gives exactly the members that the mapped type demands.
export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

/** The command-line flag of a setting: `maxQueuedBytes` is `--max-queued-bytes`. */
export function flagOf(name: SettingName): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The environment variable of a setting: `maxQueuedBytes` is `HALYARD_MAX_QUEUED_BYTES`. */
export function variableOf(name: SettingName): string {
  return `HALYARD_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** Whether the setting is a secret: read from `…_FILE` too, and never printed. */
export function isSecret(name: SettingName): boolean {
  return SETTINGS[name].secret !== undefined;
}
