import { ConfigError, type ConfigSource, resolveSetting } from './config.ts';
import { folderPath, httpUrls, secretText } from './setting-readers.ts';
import { type Config, flagOf, SETTINGS, type Setting, variableOf } from './settings.ts';

/** The settings that a relay has in common with a node. */
const COMMON = [
  'port',
  'host',
  'docsUrl',
  'metricsToken',
  'corsOrigins',
  'trustProxy',
  'rateLimit',
  'maxStreamsPerKey',
  'maxQueuedBytes',
  'maxStaleSeconds',
  'drainSeconds',
  'workers',
  'reusePort',
  'logLevel',
  'logFormat',
] as const;

/** The value of every setting of a relay. */
export type RelayConfig = Pick<Config, (typeof COMMON)[number]> & {
  /** The base addresses at which the log can be followed, the preferred one first, without slashes at the end. */
  readonly upstream: readonly string[];
  readonly relayToken: string;
  /** The file that holds the token, which may be replaced; absent if it was given in a variable. */
  readonly relayTokenFile?: string;
  readonly data: string;
};

/** Every setting of `halyard relay` by name, in the order of help texts. */
export const RELAY_SETTINGS: Readonly<Record<string, Setting<unknown>>> = {
  upstream: {
    reader: httpUrls,
    sentence:
      'Address of the node or relay to follow, such as https://flags.example.com; several, separated by commas, are tried in turn.',
  },
  relayToken: {
    reader: secretText,
    secret: 'hidden',
    sentence:
      'Relay token of the upstream; "halyard relay-token create" prints one. A file is read again when it changes.',
  },
  data: {
    reader: folderPath,
    default: './halyard-relay',
    sentence: 'Folder in which to keep the last known flags.',
  },
  ...Object.fromEntries(COMMON.map((name) => [name, SETTINGS[name]])),
};

/** Reads all settings of a relay. Returns a frozen record, or throws a {@link ConfigError} with every invalid setting. */
export function parseRelayConfig(source: ConfigSource): RelayConfig {
  const problems: string[] = [];
  const values: Record<string, unknown> & { logFormat?: unknown } = {};
  for (const [name, setting] of Object.entries(RELAY_SETTINGS)) {
    const resolved = resolveSetting(name, setting, source);
    if (!resolved.ok) problems.push(resolved.problem);
    else if (resolved.value.value !== undefined) values[name] = resolved.value.value;
    else if (name === 'upstream') problems.push(missing(name, flagOf(name)));
    else if (name === 'relayToken') problems.push(missing(name, `${flagOf(name)}-file`));
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const file = source.flags.relayTokenFile ?? source.env[`${variableOf('relayToken')}_FILE`];
  if (file) values.relayTokenFile = String(file);
  if (values.logFormat === 'auto') values.logFormat = source.isTerminal ? 'pretty' : 'json';
  // The table types each member, and the required ones were checked.
  return Object.freeze(values) as unknown as RelayConfig;
}

function missing(name: string, flag: string): string {
  return `A relay needs ${flag} or ${variableOf(name)}.`;
}
