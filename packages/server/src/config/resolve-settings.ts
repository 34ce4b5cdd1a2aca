import { readFileSync } from 'node:fs';
import type { Parsed } from '@halyard/protocol';
import type { ConfigSource } from './config.ts';
import { readSetting, type SettingReader } from './setting-readers.ts';
import { flagOf, isSecret, SETTING_NAMES, SETTINGS, type SettingName, variableOf } from './settings.ts';

/** Values of command-line flags by the name of the setting, secrets' files by `<name>File`. */
export type FlagValues = Readonly<Record<string, string | boolean | undefined>>;

/** A setting as it takes effect, and where it comes from. */
export interface EffectiveSetting {
  /** `undefined` for a setting that is off. */
  readonly value: unknown;
  /** The flag, the variable or `default`. */
  readonly origin: string;
}

/** All settings in effect, with one sentence for each that cannot be used. */
export interface ResolvedSettings {
  readonly settings: Readonly<Record<SettingName, EffectiveSetting>>;
  readonly problems: readonly string[];
}

/** Reads every setting from its flag, else its variable, else its default, and checks those that depend on others. */
export function resolveSettings(source: ConfigSource): ResolvedSettings {
  const problems: string[] = [];
  const refused = new Set<SettingName>();
  const settings: Partial<Record<SettingName, EffectiveSetting>> = {};
  for (const name of SETTING_NAMES) {
    const resolved = resolveSetting(name, source);
    if (!resolved.ok) {
      problems.push(resolved.problem);
      refused.add(name);
    }
    settings[name] = resolved.ok ? resolved.value : { value: undefined, origin: 'default' };
  }
  // The loop has filled every member.
  const complete = settings as Record<SettingName, EffectiveSetting>;
  if (complete.logFormat.value === 'auto') {
    complete.logFormat = { ...complete.logFormat, value: source.isTerminal ? 'pretty' : 'json' };
  }
  // A setting that was refused is given, though it has no value: only the others can be missing.
  for (const { between, problem } of conflicts(complete)) {
    if (!between.some((name) => refused.has(name))) problems.push(problem);
  }
  return { settings: complete, problems };
}

function resolveSetting(name: SettingName, source: ConfigSource): Parsed<EffectiveSetting> {
  const given = givenText(name, source);
  if (!given.ok) return given;
  const { text, origin } = given.value;
  if (text === undefined) return { ok: true, value: { value: undefined, origin } };
  // Each reader gives the type of its own setting; here only their union is known.
  const reader = SETTINGS[name].reader as SettingReader<unknown>;
  const read = readSetting(reader, text, { name: origin, secret: isSecret(name) });
  return read.ok ? { ok: true, value: { value: read.value, origin } } : read;
}

interface Given {
  /** `undefined` for a setting that is off. */
  readonly text: string | undefined;
  readonly origin: string;
}

function givenText(name: SettingName, { flags, env }: ConfigSource): Parsed<Given> {
  const byDefault: Given = { text: SETTINGS[name].default, origin: 'default' };
  const flag = pick(name, {
    text: asText(flags[name]),
    file: asText(flags[`${name}File`]),
    names: [flagOf(name), `${flagOf(name)}-file`],
  });
  if (!flag.ok || flag.value !== undefined) return settle(flag, byDefault);
  // An empty variable counts as unset: that is how compose files and shells take one away.
  const variable = variableOf(name);
  const found = pick(name, {
    text: env[variable] || undefined,
    file: isSecret(name) ? env[`${variable}_FILE`] || undefined : undefined,
    names: [variable, `${variable}_FILE`],
  });
  return settle(found, byDefault);
}

function settle(found: Parsed<Given | undefined>, byDefault: Given): Parsed<Given> {
  if (!found.ok) return found;
  const given = found.value ?? byDefault;
  const canBeOff = byDefault.text === undefined;
  return { ok: true, value: canBeOff && given.text === 'off' ? { ...given, text: undefined } : given };
}

interface Candidates {
  readonly text: string | undefined;
  readonly file: string | undefined;
  readonly names: readonly [text: string, file: string];
}

function pick(name: SettingName, { text, file, names }: Candidates): Parsed<Given | undefined> {
  if (text !== undefined && file !== undefined) {
    return { ok: false, problem: `${names[0]} and ${names[1]} are both given: keep one of them.` };
  }
  if (text !== undefined) return { ok: true, value: { text, origin: names[0] } };
  if (file === undefined) return { ok: true, value: undefined };
  const secret = readSecretFile(file);
  if (secret === undefined) {
    return {
      ok: false,
      problem: `${names[1]} names ${JSON.stringify(file)}, which cannot be read: name a file.`,
    };
  }
  if (secret === '') {
    return {
      ok: false,
      problem: `${names[1]} names ${JSON.stringify(file)}, which is empty: put the ${name} in it.`,
    };
  }
  return { ok: true, value: { text: secret, origin: names[1] } };
}

/** The text of a file that holds a secret, without the white space around it; `undefined` when it cannot be read. */
export function readSecretFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    // Why it cannot be read (absent, a folder, no permission) is the same to the caller: another path is needed.
    return undefined;
  }
}

/** Two settings that do not fit together. */
interface Conflict {
  readonly between: readonly SettingName[];
  readonly problem: string;
}

function conflicts(settings: Readonly<Record<SettingName, EffectiveSetting>>): Conflict[] {
  return [...portConflicts(settings), ...adminConflicts(settings)];
}

function adminConflicts({
  adminEmail,
  adminPassword,
}: Readonly<Record<SettingName, EffectiveSetting>>): Conflict[] {
  if ((adminEmail.value === undefined) === (adminPassword.value === undefined)) return [];
  const [given, missing] =
    adminEmail.value === undefined
      ? ([adminPassword, 'adminEmail'] as const)
      : ([adminEmail, 'adminPassword'] as const);
  const problem = `${given.origin} needs ${variableOf(missing)} beside it: give both, or neither.`;
  return [{ between: ['adminEmail', 'adminPassword'], problem }];
}

function portConflicts(settings: Readonly<Record<SettingName, EffectiveSetting>>): Conflict[] {
  const between = ['port', 'host', 'managementPort', 'managementHost'] as const;
  const { port, host, managementPort, managementHost } = settings;
  if (managementPort.value === undefined) {
    if (managementHost.value === undefined) return [];
    const problem = `${managementHost.origin} needs a management port too: give ${flagOf('managementPort')}.`;
    return [{ between, problem }];
  }
  const sameHost = managementHost.value === undefined || managementHost.value === host.value;
  return sameHost && managementPort.value === port.value && port.value !== 0
    ? [
        {
          between,
          problem: `${managementPort.origin} is the main port already: choose another one, or leave it out.`,
        },
      ]
    : [];
}

function asText(value: string | boolean | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}
