import { defined } from '@halyard/protocol';
import type { EnvironmentVariables } from '../config/config.ts';
import { isThisMachine, namedInVariables, resolveAddress } from '../config/connection.ts';
import { findKeyring } from '../config/keyring.ts';
import {
  checkProfileName,
  type Profile,
  type Profiles,
  profileNamed,
  readProfiles,
  writeProfiles,
} from '../config/profiles.ts';
import { ApiClient, apiPath } from './api-client.ts';
import { usageError } from './cli-error.ts';
import { type CliCommand, localCommand } from './command.ts';
import { CONNECTION, option, toggle } from './options.ts';
import { formatTable, wantsJson } from './output.ts';
import type { Shell } from './shell.ts';

const PROFILE = option(
  '<profile>',
  'Profile to log in to (default: HALYARD_PROFILE, the current one, or "default")',
);

/** `halyard login` */
export const loginCommand = localCommand({
  usage: 'login [url]',
  about: 'Log in to a server: store its address and an access token as a profile that other commands use.',
  argumentHelp: {
    url: 'Server address (default: the address of the profile, HALYARD_URL, or this machine)',
  },
  options: {
    profile: PROFILE,
    keyring: toggle('Store the token in the keyring of the system (default if there is one)', {
      no: 'Store the token in a file that only you can read',
    }),
  },
  help:
    'Asks for the token without showing it, or reads it from a pipe. Create a token in the dashboard under Account, Your access\n' +
    'tokens, or with "halyard token create" if you have access already.\n\n' +
    'A token is sent only to the server that it was stored for.',
  examples: [
    'halyard login https://flags.example.com',
    'halyard login https://flags.test --profile test',
    'halyard login https://flags.example.com < token.txt',
  ],
  run: async ({ url: given, profile: asked, keyring: wantsKeyring }, shell) => {
    const known = readProfiles(shell.env);
    const name = nameOf(asked, known, shell) ?? 'default';
    checkProfileName(name);
    const before = known.profiles.find((each) => each.name === name);
    const address = given ?? before?.url;
    // Not at the server of the current profile: the token may be meant for this machine.
    const { url } = resolveAddress(
      address === undefined ? {} : { url: address },
      withoutProfile(shell),
      'named',
    );
    if (before !== undefined && before.url !== url && asked === undefined)
      throw usageError(
        `The profile "${name}" is for ${before.url}. Add --profile <name> for another one, or --profile ${name} to replace it.`,
      );

    if (url.startsWith('http:') && !isThisMachine(url))
      shell.writeError(`warning: ${url} is not encrypted: others on the way can read the token.\n`);
    const token = (await shell.readSecret(`Access token for ${url}: `)).trim();
    if (!/^[\x21-\x7e]+$/.test(token)) throw usageError('That is not an access token. Copy the whole token.');
    const connection = { url, readUrl: url, token, tokenOrigin: 'your input' };
    const client = new ApiClient(connection, (sentence) => shell.writeError(`warning: ${sentence}\n`));
    const { fields } = await client.request({ path: apiPath`/whoami` });

    if (before !== undefined && before.token === undefined) removeToken(shell, before);
    const ring = wantsKeyring === false ? undefined : findKeyring(shell.env);
    const isInRing = ring?.store({ profile: name, url }, token) === true;
    const profile: Profile = isInRing ? { name, url } : { name, url, token };
    const others = known.profiles.filter((each) => each.name !== name);
    const path = writeProfiles(shell.env, { current: name, profiles: [...others, profile] });

    const place = isInRing ? ring.name : path;
    shell.write(
      `Logged in to ${url} as ${fields.text('name')}. Profile "${name}"; the token is in ${place}.\n`,
    );
    const shadow = namedInVariables(shell.env);
    if (shadow !== undefined)
      shell.writeError(
        `note: ${shadow} is set, so commands do not use the current profile unless --profile names it.\n`,
      );
  },
});

/** The profile that is meant: the one that `--profile` or `HALYARD_PROFILE` names, or the current one. */
function nameOf(asked: string | undefined, { current }: Profiles, { env }: Shell): string | undefined {
  return asked ?? (env.HALYARD_PROFILE || undefined) ?? current;
}

/** The environment without a profile that may not exist yet. */
function withoutProfile({ env }: Shell): EnvironmentVariables {
  return { ...env, HALYARD_PROFILE: '' };
}

/** Removes the token of a profile from the keyring, and says so where the keyring does not confirm it. */
function removeToken(shell: Shell, { name, url }: Pick<Profile, 'name' | 'url'>): void {
  const ring = findKeyring(shell.env);
  if (ring?.remove({ profile: name, url }) === true) return;
  const place = ring?.name ?? 'the keyring, whose program was not found';
  shell.writeError(`note: the token of "${name}" for ${url} may still be in ${place}.\n`);
}

/** `halyard logout` */
export const logoutCommand = localCommand({
  usage: 'logout',
  about: 'Forget a profile and its token.',
  options: {
    profile: option('<profile>', 'Profile to forget (default: HALYARD_PROFILE or the current one)'),
  },
  help: 'The token itself stays valid. Revoke it with "halyard token revoke" if nothing else uses it.',
  run: ({ profile: asked }, shell) => {
    const known = readProfiles(shell.env);
    const name = nameOf(asked, known, shell);
    if (name === undefined) throw usageError('There is no current profile. Name one with --profile.');
    const { url, token } = profileNamed(known, name);

    if (token === undefined) removeToken(shell, { name, url });
    const profiles = known.profiles.filter((each) => each.name !== name);
    const current = known.current === name ? undefined : known.current;
    writeProfiles(shell.env, { ...defined({ current }), profiles });
    shell.write(`Forgot the profile "${name}" for ${url}. Its token stays valid until it is revoked.\n`);
    if (known.current === name && profiles.length > 0)
      shell.write('There is no current profile now: choose one with "halyard profile use".\n');
  },
});

/** `halyard profile list|use` */
export const profileCommands: readonly CliCommand[] = [
  localCommand({
    usage: 'list',
    about: 'List the servers that you have logged in to.',
    options: { json: CONNECTION.json },
    run: (options, shell) => {
      const { current, profiles } = readProfiles(shell.env);
      const listed = profiles.map(({ name, url, token }) => ({
        name,
        url,
        token: token === undefined ? 'keyring' : 'file',
        current: name === current,
      }));
      if (wantsJson(shell, options)) return shell.write(`${JSON.stringify({ profiles: listed })}\n`);
      if (listed.length === 0) return shell.write('No profiles. Create one with "halyard login <url>".\n');
      const rows = listed.map((each) => [each.name, each.url, each.token, each.current ? 'yes' : '']);
      shell.write(formatTable(['PROFILE', 'SERVER', 'TOKEN', 'CURRENT'], rows));
    },
  }),
  localCommand({
    usage: 'use <profile>',
    about:
      'Set the current profile. Commands use it unless an option or a variable names a server or a token.',
    argumentHelp: { profile: 'Name of the profile' },
    examples: ['halyard profile use test'],
    run: ({ profile: name }, shell) => {
      const known = readProfiles(shell.env);
      const { url } = profileNamed(known, name);
      writeProfiles(shell.env, { ...known, current: name });
      shell.write(`The current profile is "${name}": ${url}\n`);
    },
  }),
];
