import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, type EnvironmentVariables, readSecretFile } from './config.ts';
import { httpUrl, readSetting } from './setting-readers.ts';
import { SETTINGS } from './settings.ts';

/** Flags of the commands that talk to a server. */
export interface ConnectionFlags {
  readonly url?: string;
  readonly token?: string;
  readonly data?: string;
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
 * Finds the server: `--url`, `HALYARD_URL`, this machine at the ports that the settings of `serve` name. Throws a
 * {@link ConfigError}.
 */
export function resolveAddress(
  flags: Pick<ConnectionFlags, 'url'>,
  env: EnvironmentVariables,
): ServerAddress {
  const name = flags.url === undefined ? 'HALYARD_URL' : '--url';
  const givenUrl = flags.url ?? (env.HALYARD_URL || undefined);
  const url = readSetting(httpUrl, givenUrl ?? managementAddress(env), { name, secret: false });
  if (!url.ok) throw new ConfigError([url.problem]);
  return { url: url.value, readUrl: givenUrl === undefined ? mainAddress(env) : url.value };
}

/**
 * Finds the server ({@link resolveAddress}) and the access token: `--token`, the file `admin-token` in the folder of
 * `--data`, `HALYARD_TOKEN`, `HALYARD_ADMIN_TOKEN`, then that file in the folder of `HALYARD_DATA` or the default one.
 * The token of the default folder is used for servers on this machine only, so that it never goes to another one by
 * accident. Throws a {@link ConfigError}.
 */
export function resolveConnection(flags: ConnectionFlags, env: EnvironmentVariables): Connection {
  const address = resolveAddress(flags, env);
  const { token, data } = flags;
  const given = token === undefined ? undefined : { token, tokenOrigin: '--token' };
  const found =
    given ??
    (data === undefined ? tokenInVariables(env) : undefined) ??
    tokenInDataFolder(address.url, data ?? (env.HALYARD_DATA || undefined));
  if (found.token !== undefined && !/^[\x21-\x7e]+$/.test(found.token)) {
    throw new ConfigError([
      'The access token contains invalid characters. Copy the whole token again, without spaces.',
    ]);
  }
  return { ...address, ...found };
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

function tokenInVariables(env: EnvironmentVariables): FoundToken | undefined {
  for (const name of ['HALYARD_TOKEN', 'HALYARD_ADMIN_TOKEN']) {
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
