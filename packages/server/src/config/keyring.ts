import type { EnvironmentVariables } from './config.ts';

/** A place of the system for secrets, reached through its own program. */
export interface Keyring {
  /** For messages. */
  readonly name: string;
  /** The token of a profile for a server; `undefined` if there is none, or the keyring is locked. */
  read(place: KeyringPlace): string | undefined;
  /** Whether the token was stored. */
  store(place: KeyringPlace, token: string): boolean;
  /** Returns whether the keyring confirmed the removal. */
  remove(place: KeyringPlace): boolean;
}

/** The place of a token. The server is a part of it, so that the token goes to no other server. */
export interface KeyringPlace {
  readonly profile: string;
  readonly url: string;
}

/** How long the program of a keyring may take, in milliseconds: it may ask the person to unlock it. */
const TIMEOUT_MS = 60_000;

/** The keyring of this machine; `undefined` without its usual program. */
export function findKeyring(env: EnvironmentVariables): Keyring | undefined {
  const find = (tool: string) => Bun.which(tool, { PATH: env.PATH ?? '' });
  const secretTool = find('secret-tool');
  // On other systems, `security` is a different program.
  const program = secretTool ?? (process.platform === 'darwin' ? find('security') : null);
  if (program === null) return undefined;

  const run = (args: readonly string[], input = '') => {
    const { exitCode, stdout } = Bun.spawnSync([program, ...args], {
      env,
      stdin: Buffer.from(input),
      stderr: 'ignore',
      timeout: TIMEOUT_MS,
    });
    return { isDone: exitCode === 0, text: String(stdout).trim() };
  };
  return secretTool === null ? macKeyring(run) : secretService(run);
}

type Run = (args: readonly string[], input?: string) => { readonly isDone: boolean; readonly text: string };

/** The Secret Service of Linux desktops. */
function secretService(run: Run): Keyring {
  const attributes = ({ profile, url }: KeyringPlace) => [
    'service',
    'halyard',
    'server',
    url,
    'profile',
    profile,
  ];
  return {
    name: 'the keyring (secret-tool)',
    read: (place) => textOf(run(['lookup', ...attributes(place)])),
    store: (place, token) =>
      run(['store', `--label=Halyard ${place.profile}`, ...attributes(place)], token).isDone,
    remove: (place) => run(['clear', ...attributes(place)]).isDone,
  };
}

/** The keychain of macOS. The token goes through standard input: other users can see the arguments of a program. */
function macKeyring(run: Run): Keyring {
  const place = ({ profile, url }: KeyringPlace) => ['-a', profile, '-s', `halyard ${url}`];
  return {
    name: 'the keychain (security)',
    read: (at) => textOf(run(['find-generic-password', '-w', ...place(at)])),
    store: (at, token) => {
      const words = place(at).map((word) => `"${word}"`);
      // Its own quoting: neither a word nor a token with these characters is stored there.
      if (/["\\\n]/.test(token + words.join('').replaceAll('"', ''))) return false;
      return run(['-i'], `add-generic-password -U ${words.join(' ')} -w "${token}"\n`).isDone;
    },
    remove: (at) => run(['delete-generic-password', ...place(at)]).isDone,
  };
}

function textOf({ isDone, text }: ReturnType<Run>): string | undefined {
  return isDone && text !== '' ? text : undefined;
}
