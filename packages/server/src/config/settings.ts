import { SSO_LENGTHS, SSO_ROLES } from '../domain/sso.ts';
import {
  byteCount,
  claimName,
  clientSecretText,
  clientText,
  domainList,
  emailAddress,
  filePath,
  folderPath,
  groupRoleList,
  hostName,
  httpOrigin,
  httpUrl,
  issuerUrl,
  labelText,
  networkList,
  oneOf,
  onOff,
  originList,
  passwordText,
  postgresUrl,
  type SettingReader,
  scopeList,
  secretText,
  storageUrl,
  wholeNumber,
  workerCount,
} from './setting-readers.ts';

/** One setting of a node. */
export interface Setting<Value> {
  readonly reader: SettingReader<Value>;
  /** The default, as a user would write it; absent if the setting is off by default. */
  readonly default?: string;
  /** The unit of a number. */
  readonly unit?: string;
  /** The effect, in one sentence. */
  readonly sentence: string;
  /**
   * A secret is never printed and can be read from a file. A `hidden` one has no flag for the secret itself, only for
   * its file, because command lines are visible to every user of the machine.
   */
  readonly secret?: 'shown-in-flag' | 'hidden';
}

/** A whole number of a unit, with its default. */
function lengthBetween(
  length: { readonly least: number; readonly most: number; readonly default: number },
  unit: string,
) {
  return {
    reader: wholeNumber(length.least, length.most, `<${unit}>`),
    default: String(length.default),
    unit,
  };
}

/** Every setting of `halyard serve`, in the order of help texts and documentation. */
const TABLE = {
  port: {
    reader: wholeNumber(0, 65535, '<port>'),
    default: '7070',
    sentence: 'Port to listen on; 0 picks a free one.',
  },
  host: {
    reader: hostName,
    default: '127.0.0.1',
    sentence: 'Address to listen on; 0.0.0.0 or :: accepts connections from other machines.',
  },
  data: {
    reader: folderPath,
    default: './halyard-data',
    sentence:
      'Data folder for the SQLite database and the file admin-token; with a database URL, for admin-token and last-known-flags.',
  },
  databaseUrl: {
    reader: postgresUrl,
    secret: 'shown-in-flag',
    sentence: 'PostgreSQL database to use instead of SQLite, so that several nodes can share it.',
  },
  databaseFollowUrl: {
    reader: postgresUrl,
    secret: 'shown-in-flag',
    sentence:
      'PostgreSQL from which to follow the changes, if not --database-url: the server itself behind a pooler, or a standby nearby.',
  },
  databasePoolSize: {
    reader: wholeNumber(1, 100, '<n>'),
    default: '4',
    unit: 'connections',
    sentence: 'PostgreSQL connections for the management API; one more listens for changes.',
  },
  bare: {
    reader: onOff,
    default: 'false',
    sentence: 'Start empty, without the demo project and its key.',
  },
  import: {
    reader: filePath,
    sentence:
      'Document to import on the first start, while there are no projects, instead of the demo project.',
  },
  adminToken: {
    reader: secretText,
    secret: 'hidden',
    sentence:
      'Access token with all permissions in the management API; by default, one is created in the data folder.',
  },
  publicUrl: {
    reader: httpOrigin,
    sentence:
      "Public address of the dashboard, for links to it, without a path; by default, this node's own address.",
  },
  adminEmail: {
    reader: emailAddress,
    sentence: 'Email address of the first administrator, created while no operator exists.',
  },
  adminPassword: {
    reader: passwordText,
    secret: 'hidden',
    sentence: 'Password of the first administrator, read only while no operator exists.',
  },
  oidcIssuer: {
    reader: issuerUrl,
    sentence: 'Identity provider for single sign-on by OpenID Connect: its issuer address.',
  },
  oidcClientId: {
    reader: clientText,
    sentence: 'Client ID of this server at the identity provider.',
  },
  oidcClientSecret: {
    reader: clientSecretText,
    secret: 'hidden',
    sentence: 'Client secret of this server at the identity provider; a public client has none.',
  },
  oidcRoles: {
    reader: groupRoleList,
    sentence:
      'Role of each group of the identity provider, as in admins=admin,shop=editor@shop, where @shop limits it to a project; of several, the highest counts.',
  },
  oidcDefaultRole: {
    reader: oneOf(SSO_ROLES, '<role>'),
    sentence:
      'Role for all projects of people whose groups give none; by default, none, and without any role they cannot sign in.',
  },
  oidcGroupClaim: {
    reader: claimName,
    default: 'groups',
    sentence: 'Claim that lists the groups of a person, such as groups, roles or realm_access.roles.',
  },
  oidcScopes: {
    reader: scopeList,
    default: 'openid profile email',
    sentence: 'Scopes to request from the identity provider, separated by spaces.',
  },
  oidcEmailDomains: {
    reader: domainList,
    sentence: 'Domains of the email addresses that can sign in with the identity provider; by default, all.',
  },
  oidcTrustEmail: {
    reader: onOff,
    default: 'false',
    sentence:
      'Accept email addresses that the identity provider does not call verified; only if people cannot choose theirs.',
  },
  oidcLabel: {
    reader: labelText,
    default: 'SSO',
    sentence: 'Name of the identity provider on the button "Sign in with …".',
  },
  oidcOnly: {
    reader: onOff,
    default: 'false',
    sentence: 'Refuse to sign in with a password; people use the identity provider only.',
  },
  oidcSessionMinutes: {
    ...lengthBetween(SSO_LENGTHS.sessionMinutes, 'minutes'),
    sentence:
      'Longest session of a person who signs in with the identity provider, and so the age of the groups that count in it.',
  },
  oidcIdleMinutes: {
    ...lengthBetween(SSO_LENGTHS.idleMinutes, 'minutes'),
    sentence: 'Time after which an unused session of such a person ends.',
  },
  oidcAbsenceDays: {
    ...lengthBetween(SSO_LENGTHS.absenceDays, 'days'),
    sentence:
      'Time since the last sign-in of such a person after which their own access tokens, schedules, rollout plans and proposals are refused.',
  },
  docsUrl: {
    reader: httpUrl,
    sentence: 'Address of the documentation that errors link to; by default, /docs of this server.',
  },
  managementPort: {
    reader: wholeNumber(0, 65535, '<port>'),
    sentence:
      'Separate port for the dashboard, management API and metrics; by default, they share the main one.',
  },
  managementHost: {
    reader: hostName,
    sentence: 'Address to listen on with the management port; by default, the main one.',
  },
  metricsToken: {
    reader: secretText,
    secret: 'hidden',
    sentence: 'Bearer token that /metrics requires; by default, it is open.',
  },
  corsOrigins: {
    reader: originList,
    sentence: 'Origins of pages that can call /v1 and OFREP from a browser.',
  },
  trustProxy: {
    reader: onOff,
    default: 'false',
    sentence:
      'Trust X-Forwarded-For for client addresses, X-Forwarded-Host for the origin of pages and X-Forwarded-Prefix for the addresses of streams; only behind a proxy that sets them.',
  },
  webhooks: {
    reader: onOff,
    default: 'true',
    sentence:
      'Deliver changes to webhooks; turn it off for a copy of an installation, which has the same receivers.',
  },
  webhookNetworks: {
    reader: networkList,
    sentence:
      'Networks that webhooks can reach although they are private, also over plain http; by default, public addresses over https only.',
  },
  mcp: {
    reader: oneOf(['read', 'write'], '<mode>'),
    sentence:
      'Serve agents at /mcp, beside the management API, with their own access tokens: read offers no tool that changes something, write does.',
  },
  publishUrl: {
    reader: storageUrl,
    sentence:
      'Folder of S3-compatible storage to which published environments are written; credentials and endpoint come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT.',
  },
  rateLimit: {
    reader: wholeNumber(1, 1_000_000, '<n>'),
    unit: 'requests per second',
    sentence: 'Request limit of one project key, above which it gets 429.',
  },
  maxStreamsPerKey: {
    reader: wholeNumber(1, 1_000_000, '<n>'),
    unit: 'streams',
    sentence: 'Limit of open streams of one project key on this node, above which it gets 429.',
  },
  maxQueuedBytes: {
    reader: byteCount(1024),
    default: '1MiB',
    unit: 'bytes',
    sentence:
      'Data that may wait for a slow stream before it is closed; at least eight frames may wait, however large they are.',
  },
  maxStaleSeconds: {
    reader: wholeNumber(1, 604_800, '<seconds>'),
    unit: 'seconds',
    sentence:
      'Age of answers without the database after which reads fail with 500; by default, they never do.',
  },
  drainSeconds: {
    reader: wholeNumber(0, 3600, '<seconds>'),
    default: '10',
    unit: 'seconds',
    sentence: 'Time to spread the closing of open streams over on shutdown.',
  },
  workers: {
    reader: workerCount,
    default: '1',
    unit: 'processes',
    sentence: 'Processes that serve reads and streams on the same port (Linux); auto starts one per core.',
  },
  reusePort: {
    reader: onOff,
    default: 'false',
    sentence: 'Let several processes listen on the same port (Linux).',
  },
  auditPersonalDays: {
    reader: wholeNumber(1, 36_500, '<days>'),
    unit: 'days',
    sentence:
      'Days after which names, email addresses and client addresses are removed from entries of the audit log; by default, never.',
  },
  logLevel: {
    reader: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], '<level>'),
    default: 'info',
    sentence: 'Lowest level to log: trace, debug, info, warn, error, fatal or silent.',
  },
  logFormat: {
    reader: oneOf(['auto', 'json', 'pretty'], '<format>'),
    default: 'auto',
    sentence:
      'Log format: json for lines on standard output, pretty for text on standard error, auto for pretty on a terminal.',
  },
} satisfies Readonly<Record<string, Setting<unknown>>>;

/** The name of a setting. */
export type SettingName = keyof typeof TABLE;

/** Every setting of `halyard serve` by name. */
export const SETTINGS: Readonly<Record<SettingName, Setting<unknown>>> = TABLE;

type ValueOf<Name extends SettingName> =
  (typeof TABLE)[Name]['reader'] extends SettingReader<infer Value> ? Value : never;

type NameWithDefault = {
  [Name in SettingName]: (typeof TABLE)[Name] extends { readonly default: string } ? Name : never;
}[SettingName];

/** The value of every setting. A setting that is off is absent; `logFormat: auto` is resolved. */
export type Config = {
  readonly [Name in NameWithDefault]: Name extends 'logFormat' ? 'json' | 'pretty' : ValueOf<Name>;
} & {
  readonly [Name in Exclude<SettingName, NameWithDefault>]?: ValueOf<Name>;
};

/** The names of all settings, in order. */
// Object.keys returns exactly the members of the table.
export const SETTING_NAMES = Object.keys(TABLE) as readonly SettingName[];

/** The command-line flag of a setting: `maxQueuedBytes` is `--max-queued-bytes`. */
export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The environment variable of a setting: `maxQueuedBytes` is `HALYARD_MAX_QUEUED_BYTES`. */
export function variableOf(name: string): string {
  return `HALYARD_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** Whether the setting is a secret: readable from `…_FILE`, and never printed. */
export function isSecret(name: SettingName): boolean {
  return SETTINGS[name].secret !== undefined;
}
