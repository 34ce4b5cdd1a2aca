import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { temporaryFolder } from '@halyard/testing';
import { run } from './check-client.ts';

const SOURCE = resolve(import.meta.dir, '../../clients/python');

/** What builds the packages, always the same, so that every clone of a commit gives the same bytes. */
const TOOLS = ['build==1.6.1', 'hatchling==1.33.0'] as const;

const PROGRAM = `
from halyard import Client, HalyardProvider

with Client(api_key="proj_live_none", environment="production", base_url="http://127.0.0.1:9", on_error=lambda _: None) as flags:
    assert HalyardProvider(flags).resolve_boolean_details("anything", False).value is False
print("works")
`;

/** The packages for Python in a release, and with what they were tried. */
export interface PythonPackages {
  readonly files: readonly string[];
  readonly runtime: string;
}

/**
 * Builds the wheel and the sdist of the client for Python into a folder, installs the wheel into a fresh environment, and runs a program
 * with it. Returns why that is not possible on this machine; rejects with what failed.
 */
export async function buildPythonClient(out: string): Promise<PythonPackages | string> {
  if (Bun.which('python3') === null) return 'there is no python3';
  using folder = temporaryFolder();
  const makeEnvironment = async (name: string) => {
    await run(folder.path, 'python3', '-m', 'venv', name);
    return folder.file(`${name}/bin/python`);
  };

  const old = await run(folder.path, 'python3', '-c', 'import sys; print(sys.version_info < (3, 10))');
  if (old.trim() === 'True') return 'its python3 is older than 3.10';
  const builder = await makeEnvironment('builder').catch(() => undefined);
  if (builder === undefined) return 'its python3 has no venv';

  await run(folder.path, builder, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...TOOLS);
  await run(folder.path, builder, '-m', 'build', '--no-isolation', '--outdir', folder.file('dist'), SOURCE);
  const files = (await readdir(folder.file('dist'))).filter((name) => /\.(whl|tar\.gz)$/.test(name)).sort();
  const wheel = files.find((name) => name.endsWith('.whl'));
  if (files.length !== 2 || wheel === undefined)
    throw new Error(`the build of the client for Python left ${files}`);

  const fresh = await makeEnvironment('fresh');
  await run(folder.path, fresh, '-m', 'pip', 'install', '--quiet', folder.file(`dist/${wheel}`));
  const output = await run(folder.path, fresh, '-c', PROGRAM);
  if (output.trim() !== 'works') throw new Error(`Python printed: ${output}`);
  for (const name of files) await Bun.write(join(out, name), Bun.file(folder.file(`dist/${name}`)));

  const runtime = await run(folder.path, fresh, '--version');
  return { files, runtime: runtime.trim() };
}
