import { resolve } from 'node:path';
import { temporaryFolder } from '@halyard/testing';

const MODULES = resolve(import.meta.dir, '../../node_modules');

const PROGRAM = `import { createClient, type FlagsClient } from '@halyard/client';
import { createFlagsHandler } from '@halyard/client/handler';
import { createTestClient } from '@halyard/client/testing';

const client: FlagsClient = createClient({
  apiKey: 'proj_live_none',
  environment: 'production',
  baseUrl: 'http://127.0.0.1:9',
  onError: () => {},
});
if (client.isEnabled('anything')) throw new Error('a flag is on without a server');
if (typeof createFlagsHandler !== 'function' || typeof createTestClient !== 'function') throw new Error('an entry is empty');
client.close();
console.log('works');
`;

const TSCONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    module: 'nodenext',
    moduleResolution: 'nodenext',
    target: 'esnext',
    types: [],
    lib: ['esnext', 'dom', 'dom.iterable'],
  },
};

/**
 * Installs the packed client into a fresh project, type-checks a program that uses it with `skipLibCheck: false`, and
 * runs it with Node, Bun and Deno, as far as they are there. Returns the names of the runtimes that ran it; rejects with what failed.
 */
export async function checkClient(tarball: string): Promise<readonly string[]> {
  using folder = temporaryFolder();
  const project = {
    name: 'fresh',
    private: true,
    type: 'module',
    dependencies: { '@halyard/client': `file:${tarball}` },
  };
  await Bun.write(folder.file('package.json'), JSON.stringify(project));
  await Bun.write(folder.file('tsconfig.json'), JSON.stringify(TSCONFIG));
  await Bun.write(folder.file('program.ts'), PROGRAM);

  await run(folder.path, 'npm', 'install', '--no-audit', '--no-fund', '--omit=peer', '--omit=optional');
  await run(folder.path, process.execPath, `${MODULES}/.bin/tsc`, '-p', folder.path);
  const script = new Bun.Transpiler({ loader: 'ts' }).transformSync(PROGRAM);
  await Bun.write(folder.file('program.mjs'), script);

  const platform = `${process.platform}-${process.arch}`;
  const deno = Bun.file(`${MODULES}/@deno/${platform}-glibc/deno`);
  const node = Bun.file(`${MODULES}/node-${platform}/bin/node`);
  const runtimes: [string, readonly string[]][] = [['Bun', [process.execPath, 'program.mjs']]];
  if (await node.exists()) runtimes.push(['Node', [node.name ?? '', 'program.mjs']]);
  if (await deno.exists()) {
    runtimes.push([
      'Deno',
      [deno.name ?? '', 'run', '--quiet', '--allow-net', '--allow-read', 'program.mjs'],
    ]);
  }

  for (const [name, command] of runtimes) {
    const output = await run(folder.path, ...command);
    if (output.trim() !== 'works') throw new Error(`${name} printed: ${output}`);
  }
  return runtimes.map(([name]) => name);
}

/** Runs a command in a folder and returns what it printed; rejects, with that, when it fails. */
export async function run(folder: string, ...command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], { cwd: folder, stdout: 'pipe', stderr: 'pipe' });
  const [output, problems] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed:\n${output}${problems}`);
  return output;
}
