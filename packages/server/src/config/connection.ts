import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, type EnvironmentVariables, readSecretFile } from './config.ts';
import { findKeyring } from './keyring.ts';
import { type Profile, profileNamed, readProfiles } from './profiles.ts';
import { httpUrl, readSetting } from './setting-readers.ts';
import { SETTINGS } from './settings.ts';

/** Flags of the commands that talk to a server. */
export interface ConnectionFlags {
  readonly url?: string;
  readonly token?: string;
  readonly data?: string;
  readonly profile?: string;
}

/** The addresses of a server. */
export interface ServerAddress {
  /** Address of the management API, without a slash at the end. */
  readonly url: string;
  /** Address that serves flags; differs only for a server on this machine with a management port. */
  readonly readUrl: string;
}

/** A server and the access token for it. */
export interface Connection extends ServerAddress {
  /** The access token; absent if none was found. */
  readonly token?: string;
  /** The option, the variable or the file that the token comes from. */
  readonly tokenOrigin?: string;
  /** A sentence that says why the data folder has no token. */
  readonly tokenProblem?: string;
}

/**
 * Finds the server: `--url`, `HALYARD_URL`, that of the profile ({@link profileFor}), this machine at the ports that the settings of
 * `serve` name. With `named`, only a profile that is named counts. Throws a {@link ConfigError}.
 */
export function resolveAddress(
  flags: ConnectionFlags,
  env: EnvironmentVariables,
  profiles: 'any' | 'named' = 'any',
): ServerAddress {
  return addressWith(profileFor(flags, env, profiles), flags, env);
}

function addressWith(
  profile: Profile | undefined,
  flags: ConnectionFlags,
  env: EnvironmentVariables,
): ServerAddress {
  // An option counts more than any variable.
  const variable = flags.profile === undefined ? env.HALYARD_URL || undefined : undefined;
  const name = flags.url === undefined ? 'HALYARD_URL' : '--url';
  const givenUrl = flags.url ?? variable ?? profile?.url;
  const url = readSetting(httpUrl, givenUrl ?? managementAddress(env), { name, secret: false });
  if (!url.ok) throw new ConfigError([url.problem]);
  return { url: url.value, readUrl: givenUrl === undefined ? mainAddress(env) : url.value };
}

/**
 * Finds the server ({@link resolveAddress}) and the access token: `--token`, the file `admin-token` in the folder of
 * `--data`, `HALYARD_TOKEN`, `HALYARD_ADMIN_TOKEN`, that file in the folder of `HALYARD_DATA`, the profile, the default folder.
 * The tokens of a profile and of the default folder are only used for their own server, so that they never go to another one by
 * accident. With `named`, only a profile that is named counts, and not the current one. Throws a {@link ConfigError}.
 */
export function resolveConnection(
  flags: ConnectionFlags,
  env: EnvironmentVariables,
  profiles: 'any' | 'named' = 'any',
): Connection {
  const profile = profileFor(flags, env, profiles);
  const address = addressWith(profile, flags, env);
  const { token, data } = flags;
  const found =
    token === undefined
      ? findToken({ url: address.url, data, profile, profiles, isOption: flags.profile !== undefined }, env)
      : { token, tokenOrigin: '--token' };

  if (found.token !== undefined && !/^[\x21-\x7e]+$/.test(found.token)) {
    throw new ConfigError([
      'The access token contains invalid characters. Copy the whole token again, without spaces.',
    ]);
  }
  return { ...address, ...found };
}

interface TokenSearch {
  readonly url: string;
  readonly data: string | undefined;
  readonly profile: Profile | undefined;
  readonly profiles: 'any' | 'named';
  /** Whether an option named the profile. */
  readonly isOption: boolean;
}

function findToken(
  { url, data, profile, profiles, isOption }: TokenSearch,
  env: EnvironmentVariables,
): FoundToken {
  if (data !== undefined) return tokenInDataFolder(url, data);
  // The administration token and the data folder are those of a server here.
  const variables = profile === undefined ? ['HALYARD_TOKEN', 'HALYARD_ADMIN_TOKEN'] : ['HALYARD_TOKEN'];
  const inVariables = isOption ? undefined : tokenInVariables(variables, env);
  if (inVariables !== undefined) return inVariables;
  if (profile !== undefined) return tokenOfProfile(profile, url, env);
  if (env.HALYARD_DATA) return tokenInDataFolder(url, env.HALYARD_DATA);

  const known =
    profiles === 'named' ? undefined : readProfiles(env).profiles.find((each) => each.url === url);
  return known === undefined ? tokenInDataFolder(url, undefined) : tokenOfProfile(known, url, env);
}

/** Never for another server than the one that the token was stored for. */
function tokenOfProfile(
  { name, url, token }: Profile,
  wanted: string,
  env: EnvironmentVariables,
): FoundToken {
  const tokenOrigin = `the profile "${name}"`;
  if (url !== wanted)
    return { tokenProblem: `The token of ${tokenOrigin} is for ${url}, not for ${wanted}.` };
  const stored = token ?? findKeyring(env)?.read({ profile: name, url });
  if (stored !== undefined) return { token: stored, tokenOrigin };
  return { tokenProblem: `The keyring does not give the token of ${tokenOrigin}.` };
}

/** Variables that name a server or a token: where one is set, the current profile does not count. */
const NAMING = [
  'HALYARD_URL',
  'HALYARD_TOKEN',
  'HALYARD_TOKEN_FILE',
  'HALYARD_ADMIN_TOKEN',
  'HALYARD_ADMIN_TOKEN_FILE',
  'HALYARD_DATA',
  'HALYARD_HOST',
  'HALYARD_PORT',
  'HALYARD_MANAGEMENT_HOST',
  'HALYARD_MANAGEMENT_PORT',
] as const;

/** The first variable that names a server or a token. */
export function namedInVariables(env: EnvironmentVariables): string | undefined {
  return NAMING.find((name) => env[name]);
}

/**
 * The profile that counts: the one that `--profile` or `HALYARD_PROFILE` names, or the current one if neither an option nor a
 * variable names a server or a token. So a token that is meant for a server here never goes to that of a profile. Throws a
 * {@link ConfigError}.
 */
function profileFor(
  { url, token, data, profile }: ConnectionFlags,
  env: EnvironmentVariables,
  which: 'any' | 'named',
): Profile | undefined {
  const name = profile ?? (env.HALYARD_PROFILE || undefined);
  if (name !== undefined) return profileNamed(readProfiles(env), name);

  const isNamed = [url, token, data, namedInVariables(env)].some((each) => each !== undefined);
  if (isNamed || which === 'named') return undefined;
  const { current, profiles } = readProfiles(env);
  return profiles.find((each) => each.name === current);
}

/** The main address of a server on this machine with these settings. */
function mainAddress(env: EnvironmentVariables): string {
  return addressOf(env.HALYARD_HOST, env.HALYARD_PORT);
}

function managementAddress(env: EnvironmentVariables): string {
  if (!env.HALYARD_MANAGEMENT_PORT) return mainAddress(env);
  return addressOf(env.HALYARD_MANAGEMENT_HOST || env.HALYARD_HOST, env.HALYARD_MANAGEMENT_PORT);
}

/** Replaces what is not an address to connect to by the default: all addresses of the machine, port 0, not a number. */
function addressOf(host = '', port = ''): string {
  const name = ['', '0.0.0.0', '::', '[::]'].includes(host) ? SETTINGS.host.default : host;
  const bracketed = name?.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
  return `http://${bracketed}:${Number(port) || SETTINGS.port.default}`;
}

/** A token with its origin, or why there is none. */
type FoundToken = Pick<Connection, 'token' | 'tokenOrigin' | 'tokenProblem'>;

function tokenInVariables(names: readonly string[], env: EnvironmentVariables): FoundToken | undefined {
  for (const name of names) {
    const token = secretOf(name, env);
    if (token !== undefined) return { token, tokenOrigin: env[name] ? name : `${name}_FILE` };
  }
  return undefined;
}

function secretOf(variable: string, env: EnvironmentVariables): string | undefined {
  if (env[variable]) return env[variable];
  const path = env[`${variable}_FILE`];
  if (!path) return undefined;
  const secret = readSecretFile(path);
  if (secret) return secret;
  throw new ConfigError([`${variable}_FILE is ${JSON.stringify(path)}, which is empty or cannot be read.`]);
}

function tokenInDataFolder(url: string, named: string | undefined): FoundToken {
  if (named === undefined && !isThisMachine(url)) return {};
  const path = join(named ?? SETTINGS.data.default ?? '', 'admin-token');
  try {
    const token = readFileSync(path, 'utf8').trim();
    return token === '' ? {} : { token, tokenOrigin: path };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EACCES') return { tokenProblem: `No permission to read the access token in ${path}.` };
    // The default folder need not exist.
    return named === undefined ? {} : { tokenProblem: `No access token found in ${path}.` };
  }
}

/** Whether an address is a loopback address. */
export function isThisMachine(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
