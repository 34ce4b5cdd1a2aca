import { readFileSync } from 'node:fs';
import type { Parsed } from '@halyard/protocol';
import { readSetting } from './setting-readers.ts';
import {
  type Config,
  flagOf,
  SETTING_NAMES,
  SETTINGS,
  type Setting,
  type SettingName,
  variableOf,
} from './settings.ts';

export type { Config };

/** Environment variables, as in `process.env`. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** The environment of this process. Everything that depends on it takes it as an argument. */
export function processEnvironment(): EnvironmentVariables {
  return process.env;
}

/** Values of command-line flags by the name of the setting, files of secrets by `<name>File`. */
export type FlagValues = Readonly<Record<string, string | boolean | undefined>>;

/** The sources of settings. */
export interface ConfigSource {
  /** `undefined` members were not set. */
  readonly flags: FlagValues;
  readonly env: EnvironmentVariables;
  /** Whether standard output is a terminal, which decides `logFormat: auto`. No by default. */
  readonly isTerminal?: boolean;
}

/** Invalid settings. `problems` holds one sentence for each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      problems.length === 1
        ? problems.join()
        : `${problems.length} settings are invalid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
    this.problems = problems;
  }
}

/**
 * Reads all settings: a flag overrides its environment variable, and that the default. Returns a frozen record, or
 * throws a {@link ConfigError} with every invalid setting.
 */
export function parseConfig(source: ConfigSource): Config {
  const { settings, problems } = resolveSettings(source);
  if (problems.length > 0) throw new ConfigError(problems);
  const values = SETTING_NAMES.map((name) => [name, settings[name].value] as const);
  // The table types each member, and members without a default are optional.
  return Object.freeze(Object.fromEntries(values.filter(([, value]) => value !== undefined))) as Config;
}

/** A setting in effect, and its origin. */
export interface EffectiveSetting {
  /** `undefined` for a setting that is off. */
  readonly value: unknown;
  /** The flag, the variable or `default`. */
  readonly origin: string;
}

/** All settings in effect, by name. */
export type EffectiveSettings = Readonly<Record<SettingName, EffectiveSetting>>;

/** Reads every setting and checks those that depend on others. Returns one sentence for each invalid setting. */
export function resolveSettings(source: ConfigSource): {
  readonly settings: EffectiveSettings;
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  const invalid = new Set<SettingName>();
  const settings: Partial<Record<SettingName, EffectiveSetting>> = {};

  for (const name of SETTING_NAMES) {
    const resolved = resolveSetting(name, SETTINGS[name], source);
    if (!resolved.ok) {
      problems.push(resolved.problem);
      invalid.add(name);
    }
    settings[name] = resolved.ok ? resolved.value : { value: undefined, origin: 'default' };
  }

  // The loop has filled every member.
  const complete = settings as Record<SettingName, EffectiveSetting>;
  if (complete.logFormat.value === 'auto') {
    complete.logFormat = { ...complete.logFormat, value: source.isTerminal ? 'pretty' : 'json' };
  }

  for (const { between, problem } of [...portConflicts(complete), ...missingSettings(complete)]) {
    // An invalid setting is present although it has no value.
    if (!between.some((name) => invalid.has(name))) problems.push(problem);
  }

  return { settings: complete, problems };
}

/** Reads one setting from its flag, its variable, or a file of either. */
export function resolveSetting(
  name: string,
  setting: Setting<unknown>,
  { flags, env }: ConfigSource,
): Parsed<EffectiveSetting> {
  const { reader, default: byDefault } = setting;
  const [flag, variable, secret] = [flagOf(name), variableOf(name), setting.secret !== undefined];
  // An empty variable counts as unset: compose files and shells clear one that way.
  const file = secret ? env[`${variable}_FILE`] || undefined : undefined;
  const given =
    findText(name, [flag, flags[name]], [`${flag}-file`, flags[`${name}File`]]) ??
    findText(name, [variable, env[variable] || undefined], [`${variable}_FILE`, file]);
  if (given?.ok === false) return given;
  const { text, origin } = given?.value ?? { text: byDefault, origin: 'default' };
  if (text === undefined || (byDefault === undefined && text === 'off')) {
    return { ok: true, value: { value: undefined, origin } };
  }
  const read = readSetting(reader, text, { name: origin, secret });
  return read.ok ? { ok: true, value: { value: read.value, origin } } : read;
}

type NamedText = readonly [name: string, text: string | boolean | undefined];

/** The text of a setting or of its file; `undefined` if neither is set. */
function findText(
  setting: string,
  [name, text]: NamedText,
  [fileName, file]: NamedText,
): Parsed<{ readonly text: string; readonly origin: string }> | undefined {
  if (text !== undefined && file !== undefined) {
    return { ok: false, problem: `${name} and ${fileName} are both set: keep one of them.` };
  }
  if (text !== undefined) return { ok: true, value: { text: String(text), origin: name } };
  if (file === undefined) return undefined;
  const secret = readSecretFile(String(file));
  if (secret) return { ok: true, value: { text: secret, origin: fileName } };
  const reason = secret === undefined ? 'cannot be read' : `is empty: write the ${setting} to it`;
  return { ok: false, problem: `${fileName} is ${JSON.stringify(file)}, which ${reason}.` };
}

/** The text of a file that holds a secret, trimmed; `undefined` if it cannot be read. */
export function readSecretFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    // Absent, a folder, no permission: the remedy is the same, another path.
    return undefined;
  }
}

/** Settings that contradict each other. */
interface Conflict {
  readonly between: readonly SettingName[];
  readonly problem: string;
}

/** Settings that need another one, which is not set. */
function* missingSettings(settings: EffectiveSettings): Generator<Conflict> {
  const lacks = (name: SettingName) => settings[name].value === undefined;
  const needs = (given: SettingName, others: readonly SettingName[], why: string): Conflict => ({
    between: [given, ...others],
    problem: `${settings[given].origin} needs ${others.map(variableOf).join(' or ')}${why}`,
  });

  if (lacks('adminEmail') !== lacks('adminPassword')) {
    const [given, missing] = lacks('adminEmail')
      ? (['adminPassword', 'adminEmail'] as const)
      : (['adminEmail', 'adminPassword'] as const);
    yield needs(given, [missing], ': set both or neither.');
  }
  if (!lacks('databaseFollowUrl') && lacks('databaseUrl'))
    yield needs('databaseFollowUrl', ['databaseUrl'], ', where changes are written.');

  if (lacks('oidcIssuer')) {
    const given = SETTING_NAMES.filter((name) => name.startsWith('oidc') && !lacks(name));
    for (const name of given)
      if (settings[name].origin !== 'default')
        yield needs(name, ['oidcIssuer'], ', the address of the identity provider.');
    return;
  }
  if (lacks('oidcClientId')) yield needs('oidcIssuer', ['oidcClientId'], '.');
  if (lacks('oidcRoles') && lacks('oidcDefaultRole'))
    yield needs('oidcIssuer', ['oidcRoles', 'oidcDefaultRole'], ': without them no one could sign in.');
  if (settings.oidcIssuer.value === GOOGLE && !lacks('oidcDefaultRole') && lacks('oidcEmailDomains'))
    yield needs('oidcDefaultRole', ['oidcEmailDomains'], ': anyone can have a Google account.');
}

/** A provider at which anyone can register. */
const GOOGLE = 'https://accounts.google.com/';

function portConflicts({ port, host, managementPort, managementHost }: EffectiveSettings): Conflict[] {
  const between = ['port', 'host', 'managementPort', 'managementHost'] as const;
  if (managementPort.value === undefined) {
    if (managementHost.value === undefined) return [];
    return [{ between, problem: `${managementHost.origin} needs ${flagOf('managementPort')}.` }];
  }
  const sameHost = managementHost.value === undefined || managementHost.value === host.value;
  if (!sameHost || managementPort.value !== port.value || port.value === 0) return [];
  const problem = `${managementPort.origin} is already the main port: choose another one, or leave it out.`;
  return [{ between, problem }];
}
