/** Builds the package: `bun run build:client` fills `packages/client/dist` and packs it as a tarball in `dist`. */
import { chmod, cp, mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { ENTRIES, publicManifest } from './public-manifest.ts';

const PACKAGE = dirname(import.meta.dir);
const ROOT = resolve(PACKAGE, '../..');
const SOURCE = join(PACKAGE, 'src');

/** Builds into `folder`, which is emptied first. Rejects with what the tools said when something is wrong. */
export async function buildPackage(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await Promise.all([bundle(folder), emitTypes(folder)]);
  const { version } = await Bun.file(join(ROOT, 'package.json')).json();
  const manifest = publicManifest(await Bun.file(join(PACKAGE, 'package.json')).json(), version);
  await Bun.write(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const page of ['README.md', 'GUIDE.md', 'API.md']) await cp(join(PACKAGE, page), join(folder, page));
  await cp(join(PACKAGE, 'LICENSE'), join(folder, 'LICENSE'));
}

/** JavaScript: one file per entry and what they share, readable, with every dependency but the peers inlined. */
export async function bundle(folder: string): Promise<void> {
  const result = await Bun.build({
    entrypoints: Object.values(ENTRIES).map((entry) => join(SOURCE, `${entry}.ts`)),
    root: SOURCE,
    target: 'browser',
    format: 'esm',
    splitting: true,
    minify: { syntax: true }, // names and lines stay readable
    modulePreload: false, // the application's bundler decides that, and our chunks have no chunks of their own
    naming: { entry: '[dir]/[name].js', chunk: 'shared/[name]-[hash].js' },
    external: ['react', '@openfeature/*'],
  });
  if (!result.success) throw new AggregateError(result.logs, 'the bundle could not be built');
  const texts = await Promise.all(result.outputs.map((output) => output.text()));
  // The bundler calls what several entries share `FlagsError2`, which applications would see in their logs.
  const suffixed = texts.flatMap((text) => [...text.matchAll(/\b(\w+)2 as \1\b/g)].map(([, name]) => name));
  const shared = new RegExp(`\\b(${suffixed.join('|')})2\\b`, 'g');
  const internal = new RegExp(`\\b(${INTERNAL_MEMBERS.join('|')})\\b`, 'g');
  const constants = constantsOf(texts);
  for (const [i, output] of result.outputs.entries()) {
    const text = texts[i] ?? '';
    const renamed = inlined(text, constants)
      .replaceAll(shared, '$1')
      .replaceAll(internal, (name) => shortName(INTERNAL_MEMBERS.indexOf(name)));
    // Next.js asks it of components that use state, and bundlers drop it from sources.
    const directive = output.path.endsWith('/react.js') ? "'use client';\n" : '';
    await Bun.write(join(folder, plainName(output.path)), directive + plainName(renamed));
  }
}

/**
 * Paths of chunks that are loaded when they are needed, without the hash: applications' bundlers name them after these files,
 * and hashes do not compress.
 */
function plainName(text: string): string {
  return text.replaceAll(/\/(?!index-)([a-z]+)-[0-9a-z]{8}\.js\b/g, '/$1.js');
}

/** Constants whose value is a number or a text, by their names. */
function constantsOf(texts: readonly string[]): ReadonlyMap<string, string> {
  const constants = new Map<string, string>();
  for (const text of texts)
    for (const [, name = '', value = ''] of text.matchAll(CONSTANT)) {
      if ((constants.get(name) ?? value) !== value) throw new Error(`${name} has two values`);
      constants.set(name, value);
    }
  return constants;
}

/** `var NAME = 15`, or a further one of the same statement. */
const CONSTANT = /(?:^var|,) ([A-Z][A-Z_]+) = ("[^"\n]*"|[\de]+)(?=[,;])/gm;

/**
 * A module with the values of constants in place of their names: minifiers keep what modules have at their top, which costs
 * twenty bytes of the compressed core. What is not used then is dropped by applications' bundlers.
 */
function inlined(text: string, constants: ReadonlyMap<string, string>): string {
  const uses = new RegExp(`\\b(${[...constants.keys()].join('|')})\\b(?! =)`, 'g');
  // Every second part is an import or an export, which needs the name.
  const parts = text.split(/(^(?:import|export) \{[^}]*\}.*)/m);
  return parts
    .map((part, i) => (i % 2 ? part : part.replaceAll(uses, (name) => constants.get(name) ?? name)))
    .join('');
}

/** A letter that no module with such members uses as a name; two when there are no more. */
function shortName(index: number): string {
  const letters = 'etnrscudvlhmfopwEFGHJKLMNPQRSTUgjkqxyzABCDIOVWXYZ$_';
  return letters.charAt(index) || `e${letters.charAt(index - letters.length)}`;
}

/**
 * Members that only our own modules use. Minifiers must keep the names of members, so they are published with short
 * ones: a hundred bytes less of the compressed core. None of them may be a word of a message or of the public API. The
 * order decides which letter each gets, and with it up to forty bytes of the compressed core.
 */
const INTERNAL_MEMBERS = [
  'platform known isCurrent isLive isPlain beginRequest isOn askRest onRetry report wallClock note',
  'listeners describeRefusal forgetAll tick giveUp judge confirm followInPage rejected loadMap endRequest',
  'counts isSighting startAgain hear lapse target redact tellAll onData onUpdate touch onPending firstMs',
  'onOpen startFollowing onComment isReady lastReport reporter etag delayAfter freshMs parsed onMapChange',
  'offer setTimer askedAt hasMap isStale',
].flatMap((line) => line.split(' '));

/** Declarations: the tree of the sources, beside those of the wire's facts, which have no package of their own. */
async function emitTypes(folder: string): Promise<void> {
  const types = join(folder, 'types');
  const config = join(folder, 'tsconfig.json');
  await Bun.write(
    config,
    JSON.stringify({
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        // A source of this compilation, not a library: its declarations are emitted too.
        paths: { '@halyard/protocol': [join(ROOT, 'packages/protocol/src/index.ts')] },
        rootDir: join(ROOT, 'packages'),
        outDir: types,
        typeRoots: [join(ROOT, 'node_modules/@types')],
      },
      include: Object.values(ENTRIES).map((entry) => join(SOURCE, `${entry}.ts`)),
      exclude: [],
    }),
  );

  const compiler = Bun.spawn([process.execPath, join(ROOT, 'node_modules/.bin/tsc'), '-p', config], {
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const output = (
    await Promise.all([compiler.stdout, compiler.stderr].map((each) => new Response(each).text()))
  ).join('');
  if ((await compiler.exited) !== 0) throw new Error(`tsc could not write the declarations:\n${output}`);

  await rm(config);
  for (const file of await readdir(types, { recursive: true })) {
    if (file.endsWith('.d.ts')) await rewriteImports(types, join(types, file));
  }
}

/** Makes imports name what is there: `.js` for `.ts`, and the neighbouring tree for the workspace package. */
async function rewriteImports(types: string, file: string): Promise<void> {
  const text = await Bun.file(file).text();
  const protocol = relative(dirname(file), join(types, 'protocol/src/index.js'));
  const rewritten = text
    .replaceAll(/(from\s+|import\()(['"])@halyard\/protocol\2/g, `$1'${protocol}'`)
    .replaceAll(/(from\s+|import\()(['"])(\.[^'"]+)\.ts\2/g, `$1'$3.js'`);
  // `AsyncDisposable` is young: say where it is declared, for consumers whose settings do not.
  const needsLibrary = rewritten.includes('AsyncDisposable');
  await Bun.write(file, needsLibrary ? `/// <reference lib="esnext.disposable" />\n${rewritten}` : rewritten);
}

/** Packs the built package into a folder. Gives the path of the tarball, as `npm install` takes it. */
export async function packPackage(folder: string, target = join(ROOT, 'dist')): Promise<string> {
  const { version } = await Bun.file(join(folder, 'package.json')).json();
  const tarball = join(target, `halyard-client-${version}.tgz`);
  await mkdir(dirname(tarball), { recursive: true });
  // The permissions are packed too, and depend on the umask of the clone.
  for await (const path of new Bun.Glob('**/*').scan({ cwd: folder, absolute: true }))
    await chmod(path, 0o644);
  const pack = [process.execPath, 'pm', 'pack', '--filename', tarball, '--quiet'];
  const { exitCode, stderr } = Bun.spawnSync(pack, { cwd: folder });
  if (exitCode !== 0) throw new Error(`the package could not be packed:\n${stderr}`);
  return tarball;
}

if (import.meta.main) {
  // The compiler is a development dependency, and `run start` installs none.
  await Bun.$`${process.execPath} install --frozen-lockfile --silent`.cwd(ROOT);
  const folder = resolve(process.argv[2] ?? join(PACKAGE, 'dist'));
  await buildPackage(folder);
  process.stdout.write(`${relative(process.cwd(), await packPackage(folder))}\n`);
}
