import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ConfigError, type EnvironmentVariables } from './config.ts';

/** A server that a person has logged in to. */
export interface Profile {
  readonly name: string;
  /** Address of the management API, without a slash at the end. */
  readonly url: string;
  /** The access token; absent if it is in the system's keyring. */
  readonly token?: string;
}

/** All profiles of a person, and the one that counts where nothing else names a server. */
export interface Profiles {
  readonly current?: string;
  readonly profiles: readonly Profile[];
}

const NONE: Profiles = { profiles: [] };

/** Names of profiles are words for command lines. */
const NAME = /^[\w][\w.-]{0,63}$/;

/** The path of the profiles: `halyard/profiles.json` in the folder for settings. `undefined` without a home folder. */
export function profilesPath(env: EnvironmentVariables): string | undefined {
  const folder = env.XDG_CONFIG_HOME || (env.HOME ? join(env.HOME, '.config') : undefined);
  return folder === undefined ? undefined : join(folder, 'halyard', 'profiles.json');
}

/**
 * Reads the profiles; none without a file. Throws a {@link ConfigError} for a file that other users can read, because it holds
 * tokens, and for one that is damaged.
 */
export function readProfiles(env: EnvironmentVariables): Profiles {
  const path = profilesPath(env);
  const mode = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })?.mode;
  if (path === undefined || mode === undefined) return NONE;
  if ((mode & 0o077) !== 0) {
    const advice = `Run chmod 600 ${path}, and replace the tokens if others may have read it.`;
    throw new ConfigError([`Other users can read ${path}, which holds access tokens. ${advice}`]);
  }

  try {
    const data: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!isProfiles(data)) throw new Error('not the shape of profiles');
    const profiles = Object.entries(data.profiles).map(([name, profile]) => ({ name, ...profile }));
    return { ...(data.current !== undefined && { current: data.current }), profiles };
  } catch {
    throw new ConfigError([`${path} cannot be read as profiles. Delete it, and log in again.`]);
  }
}

interface ProfilesFile {
  readonly current?: string;
  readonly profiles: Readonly<Record<string, Omit<Profile, 'name'>>>;
}

function isProfiles(data: unknown): data is ProfilesFile {
  if (!isObject(data) || !isObject(data.profiles)) return false;
  if (data.current !== undefined && typeof data.current !== 'string') return false;
  return Object.values(data.profiles).every(
    (each) =>
      isObject(each) && typeof each.url === 'string' && ['string', 'undefined'].includes(typeof each.token),
  );
}

function isObject(data: unknown): data is Readonly<Record<string, unknown>> {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}

/** Replaces the profiles, in a file that only its owner can read. Returns its path. */
export function writeProfiles(env: EnvironmentVariables, { current, profiles }: Profiles): string {
  const path = profilesPath(env);
  if (path === undefined) throw new ConfigError(['Set HOME or XDG_CONFIG_HOME: profiles are kept there.']);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });

  const entries = profiles.map(({ name, ...profile }) => [name, profile] as const);
  const text = JSON.stringify({ current, profiles: Object.fromEntries(entries) }, undefined, 2);
  const draft = `${path}.${process.pid}`;
  rmSync(draft, { force: true });
  writeFileSync(draft, `${text}\n`, { mode: 0o600, flag: 'wx' });
  // The umask of the process has no say here.
  chmodSync(draft, 0o600);
  renameSync(draft, path);
  return path;
}

/** The profile of this name. Throws a {@link ConfigError} without one. */
export function profileNamed({ profiles }: Profiles, name: string): Profile {
  const found = profiles.find((each) => each.name === name);
  if (found !== undefined) return found;
  const names = profiles.map((each) => each.name).join(', ');
  const known = names === '' ? 'Run "halyard login" first.' : `The profiles are ${names}.`;
  throw new ConfigError([`There is no profile "${name}". ${known}`]);
}

/** Refuses a name that no profile may have. */
export function checkProfileName(name: string): void {
  if (NAME.test(name) && name !== '__proto__') return;
  throw new ConfigError([`"${name}" cannot name a profile: use up to 64 letters, digits, ".", "_" and "-".`]);
}
