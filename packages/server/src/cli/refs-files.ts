import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { usageError } from './cli-error.ts';

/** Which files of a folder are searched. */
export interface FileChoice {
  readonly folder: string;
  /** Patterns of files and folders to leave out, as in a `.gitignore`. */
  readonly exclude: readonly string[];
}

/** Files that name flags without using them: prose, changelogs, lockfiles, and what tools make of code. */
const NO_CODE = [
  '*.{md,mdx,rst,adoc,txt,log}',
  '{changelog,changelog.*}',
  '*{-lock,.lock}{,.json,.yaml,.yml,b}',
  '{go.sum,npm-shrinkwrap.json}',
  '*.{map,snap,svg,min.js,min.css}',
  'node_modules/',
  '.git/',
];

/** Folders that hold what was built, where no `.gitignore` says so. */
const BUILT = ['dist/', 'build/', 'target/', 'vendor/', '.venv/', '__pycache__/'];

/**
 * The files to search, relative to the folder, one by one, so that a large tree takes no memory: in a Git repository those that
 * it does not ignore, elsewhere those that no `.gitignore` in the folder names.
 */
export async function* filesOf({ folder, exclude }: FileChoice): AsyncGenerator<string, void, undefined> {
  const noCode = ignoring(NO_CODE, { isCaseless: true });
  const excluded = ignoring(exclude);
  const isOut = (file: string) => noCode(file) || excluded(file);

  if (pathInRepository(folder) !== undefined) {
    for await (const file of listedByGit(folder)) if (!isOut(file)) yield file;
    return;
  }
  const isBuilt = ignoring(BUILT);
  yield* walk(folder, '', [(file) => isOut(file) || isBuilt(file)]);
}

/**
 * The path of a folder below the root of its Git repository, with a slash at its end; empty for the root. `undefined` without Git,
 * and for a folder that is in no repository, or inside `.git`.
 */
export function pathInRepository(folder: string): string | undefined {
  const git = Bun.which('git');
  if (git === null) return undefined;
  const { exitCode, stdout } = Bun.spawnSync([git, 'rev-parse', '--is-inside-work-tree', '--show-prefix'], {
    cwd: folder,
    stderr: 'ignore',
  });
  return exitCode === 0 ? /^true\r?\n(.*?)\r?\n?$/s.exec(stdout.toString())?.[1] : undefined;
}

/** The paths that Git lists in a folder of a repository. */
async function* listedByGit(folder: string): AsyncGenerator<string, void, undefined> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const listing = Bun.spawn(['git', ...args], { cwd: folder, stdout: 'pipe', stderr: 'ignore' });
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of listing.stdout) {
    const paths = (rest + decoder.decode(bytes, { stream: true })).split('\0');
    rest = paths.pop() ?? '';
    yield* paths;
  }
  if ((await listing.exited) !== 0) throw usageError(`Git could not list the files of ${folder}.`);
}

type Test = (path: string, isFolder?: boolean) => boolean;

/** The files below a folder, in order, without those that `outside` or a `.gitignore` on the way leaves out. */
function* walk(root: string, folder: string, outside: readonly Test[]): Generator<string> {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  const own = entries.some(({ name }) => name === '.gitignore') ? readIgnored(root, folder) : undefined;
  const tests = own === undefined ? outside : [...outside, own];

  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    const isFolder = entry.isDirectory();
    if (tests.some((test) => test(path, isFolder))) continue;
    if (isFolder) yield* walk(root, path, tests);
    else if (entry.isFile()) yield path;
  }
}

function readIgnored(root: string, folder: string): Test {
  const lines = readFileSync(join(root, folder, '.gitignore'), 'utf8').split(/\r?\n/);
  const patterns = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
  const test = ignoring(patterns);
  return (path, isFolder) => test(folder === '' ? path : path.slice(folder.length + 1), isFolder);
}

interface Rule {
  readonly globs: readonly Bun.Glob[];
  readonly isNegated: boolean;
}

/**
 * Whether patterns leave a path out, by the rules of `.gitignore`: one without a slash matches at any depth, one that ends with a slash
 * only folders, `!` takes a path in again, and the last one that matches decides. A file is left out with its folder.
 */
export function ignoring(
  patterns: readonly string[],
  { isCaseless = false }: { readonly isCaseless?: boolean } = {},
): Test {
  const rules = patterns.map((pattern) => ruleOf(isCaseless ? pattern.toLowerCase() : pattern));
  return (given, isFolder = false) => {
    const path = isCaseless ? given.toLowerCase() : given;
    const written = isFolder ? `${path}/` : path;
    const last = rules.findLast(({ globs }) => globs.some((glob) => glob.match(written)));
    return last !== undefined && !last.isNegated;
  };
}

function ruleOf(given: string): Rule {
  const isNegated = given.startsWith('!');
  const pattern = isNegated ? given.slice(1) : given;
  const bare = pattern.replace(/\/$/, '').replace(/^\//, '');
  const isAnchored = pattern.replace(/\/$/, '').includes('/');
  const anywhere = isAnchored || bare.startsWith('**/') ? [bare] : [bare, `**/${bare}`];
  const isFolderOnly = pattern.endsWith('/');
  // A folder is written with a slash at its end, and what is in it matches with it.
  const forms = anywhere.flatMap((each) => [`${each}/`, `${each}/**`, ...(isFolderOnly ? [] : [each])]);
  return { globs: forms.map((form) => new Bun.Glob(form)), isNegated };
}
