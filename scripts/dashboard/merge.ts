import { basename } from 'node:path';

/** Parts of a screen that are smaller go with what the screens share, in bytes: each file is a request. */
const SMALL = 4096;

/** Scripts by address, as `/assets/chunk-x2b9.js`. */
type Scripts = ReadonlyMap<string, string>;

/** The file of what the screens share, until it has its name. */
const SHARED = '/assets/shared-0.js';

/**
 * Puts what screens share into one file, and small parts with it. The bundler writes a file for every set of screens that share
 * something: dozens, most of them below four kilobytes. What remains is the program, a file for each screen, and this one.
 */
export async function mergeShared(scripts: Scripts): Promise<Scripts> {
  const screens = new Set(
    [...scripts.values()].flatMap((text) => [...text.matchAll(LOADS)].map(([, to = '']) => to)),
  );
  const isShared = ([path, text]: readonly [string, string]) =>
    basename(path).startsWith('chunk-') && (!screens.has(path) || text.length < SMALL);
  const merged = new Map([...scripts].filter(isShared));
  const names = new Map([...merged.keys()].map((path, index) => [path, `part${index}`]));

  const kept = [...scripts].filter(([path]) => !merged.has(path));
  const linked = new Map(kept.map(([path, text]) => [path, importingShared(text, names)]));
  const ahead = [...linked].filter(([, text]) => text.includes(`from"${SHARED}"`)).map(([path]) => path);
  linked.set(SHARED, await linkShared(merged, names, [...linked.keys()]));
  return renamed(new Map([...linked].map(([path, text]) => [path, loadingAhead(text, ahead)])));
}

const LOADS = /\bimport\("(\/assets\/[^"]+)"\)/g;
const RUNS = /\bimport"(\/assets\/[^"]+)"/g;
const IMPORTS = /\bimport\{([^}]*)\}from"(\/assets\/[^"]+)"/g;

/** One module with the merged ones in it. It exports what each of them does, under a prefix for each. */
async function linkShared(
  merged: Scripts,
  names: ReadonlyMap<string, string>,
  external: string[],
): Promise<string> {
  const scanner = new Bun.Transpiler({ loader: 'js' });
  const lines = [...names].flatMap(([path, name]) => {
    const members = scanner.scan(merged.get(path) ?? '').exports.map((each) => `${each} as ${name}_${each}`);
    return [`export {${members}} from '${path}';`, `export * as ${name} from '${path}';`];
  });

  const result = await Bun.build({
    entrypoints: [SHARED],
    files: { ...Object.fromEntries(merged), [SHARED]: lines.join('\n') },
    target: 'browser',
    format: 'esm',
    minify: true,
    external,
  });
  const [output] = result.outputs;
  if (!result.success || output === undefined)
    throw new AggregateError(result.logs, 'what the screens share cannot be linked');
  return await output.text();
}

/** A script that imports and loads from the shared file what it did from the merged ones. */
function importingShared(script: string, names: ReadonlyMap<string, string>): string {
  const text = script
    .replaceAll(IMPORTS, (whole, list: string, path: string) => {
      const name = names.get(path);
      if (name === undefined) return whole;
      const members = list.split(',').map((each) => {
        const [member = '', local = member] = each.trim().split(/ as /);
        return `${name}_${member} as ${local}`;
      });
      return `import{${members}}from"${SHARED}"`;
    })
    .replaceAll(RUNS, (whole, path: string) => (names.has(path) ? `import"${SHARED}"` : whole))
    .replaceAll(LOADS, (whole, path: string) => {
      const name = names.get(path);
      return name === undefined ? whole : `import("${SHARED}").then((all)=>all.${name})`;
    });

  const left = [...names.keys()].find((path) => text.includes(path));
  if (left !== undefined) throw new Error(`${left} is imported in a way that this script does not know`);
  return text;
}

/** A script that loads the shared file together with a screen that imports it, rather than after it. */
function loadingAhead(script: string, screens: readonly string[]): string {
  return script.replaceAll(LOADS, (whole, path: string) =>
    screens.includes(path) ? `(import("${SHARED}").catch(()=>{}),${whole})` : whole,
  );
}

/** The scripts under names that say what is in all of them: they name each other, and browsers keep them forever. */
function renamed(scripts: Scripts): Scripts {
  const build = Bun.hash([...scripts].flat().join('\n')).toString(36);
  const nameOf = (path: string) => path.replace(/-\w+\.js$/, `-${Bun.hash(path + build).toString(36)}.js`);
  return new Map(
    [...scripts].map(([path, text]) => [
      nameOf(path),
      text.replaceAll(/\/assets\/[\w-]+\.js/g, (named) => (scripts.has(named) ? nameOf(named) : named)),
    ]),
  );
}
