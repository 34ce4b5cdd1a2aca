import { join } from 'node:path';
import { type PreparedProgram, prepare, run } from './programs.ts';
import type { World } from './world.ts';

const CLI = 'github.com/open-feature/cli';
const TSC = join(import.meta.dir, '../node_modules/.bin/tsc');

/** What OpenFeature's CLI must make of the flags of `cases.ts`, by the type that it gives them. */
const TYPES = {
  'half-off': 'boolean',
  text: 'string',
  integer: 'integer',
  'integer-off': 'integer',
  'written-as-float': 'float',
  object: 'object',
  array: 'object',
} as const;

/** What the programs with generated code print for `user-4`: half, text, integer, float, object. */
const VALUES = [
  true,
  'Fair winds, ⛵ "sailor"',
  42,
  -7.25,
  { limit: 10, tags: ['a', 'b'], deep: { on: true } },
];

/**
 * Lets OpenFeature's CLI read the manifest of a node and generate code for Go and for Node. Compiles both, and compares the
 * values that programs read with them. Gives the version of the CLI, or why it was skipped. Rejects with what is wrong.
 */
export async function tryCli({ base, key }: World): Promise<{ readonly version: string } | string> {
  const program = await prepare({
    folder: 'cli',
    needs: ['go'],
    install: [['go', 'mod', 'download']],
    build: [['go', 'build', '-o', 'openfeature', 'github.com/open-feature/cli/cmd/openfeature']],
  });
  if (typeof program === 'string') return program;
  const pull = (token: string) =>
    run(['./openfeature', 'pull', '--no-prompt', '--provider-url', base, '--auth-token', token], program);
  const refused = await pull('wrong');
  if (refused.ok || !refused.text.includes('The project key is missing, unknown, revoked or expired'))
    throw new Error(`a wrong key: ${refused.text}`);
  const pulled = await pull(key);
  if (!pulled.ok) throw new Error(`pull failed:\n${pulled.text}`);
  await checkManifest(program);

  for (const language of [['go', '--package-name', 'flags'], ['nodejs']])
    await mustRun(['./openfeature', 'generate', ...language, '--output', 'flags'], program);
  await mustRun(['go', 'build', '-o', 'interop', '.'], program);
  await mustRun([process.execPath, TSC, '-p', '.'], program);

  const env = { ...program.env, BASE_URL: base, HALYARD_KEY: key };
  for (const command of [['./interop'], [process.execPath, 'main.mjs']]) {
    const text = await mustRun(command, { ...program, env });
    const values = JSON.parse(text.slice(text.indexOf('[')));
    if (!Bun.deepEquals(values, VALUES)) throw new Error(`${command.join(' ')} read ${text}`);
  }
  const { Path, Version } = JSON.parse(await mustRun(['go', 'list', '-m', '-json', CLI], program));
  return { version: `${Path} ${Version.slice(1)}` };
}

async function checkManifest({ cwd }: PreparedProgram): Promise<void> {
  const { flags } = await Bun.file(`${cwd}/flags.json`).json();
  for (const [key, type] of Object.entries(TYPES))
    if (flags[key]?.flagType !== type)
      throw new Error(`${key} should be ${type}, and is ${JSON.stringify(flags[key])}`);
  if ('null' in flags) throw new Error('a flag whose value is null has no type');
}

async function mustRun(command: readonly string[], program: PreparedProgram): Promise<string> {
  const { ok, text } = await run(command, program);
  if (!ok) throw new Error(`${command.join(' ')} failed:\n${text}`);
  return text;
}
