import { relative } from 'node:path';

/** A relative import of one source file by another, as paths below the folder of sources. */
export interface Import {
  readonly from: string;
  readonly to: string;
  /** Whether the import is there when the program runs: it is no type, and is loaded with the file. */
  readonly isValue: boolean;
  /** Whether it is loaded later, by `import()`. */
  readonly isLazy: boolean;
}

/** The source files of a folder, tests and their fixtures (`test-*.ts`) aside, as paths below it, with their texts. */
export async function* sourceFiles(folder: string): AsyncGenerator<readonly [file: string, text: string]> {
  for await (const file of new Bun.Glob('**/*.{ts,tsx}').scan(folder)) {
    if (/(\.test|\.d)\.tsx?$|(^|\/)test-[^/]*\.ts$/.test(file)) continue;
    yield [file, await Bun.file(`${folder}/${file}`).text()];
  }
}

/** A relative import: whether it is one of types, and its target, or that of an import that is loaded later. */
const IMPORT = /^(?:import|export)\b( type\b)?[^;']*?from\s*'(\.[^']+)'|import\(\s*'(\.[^']+)'/gm;

/** Every relative import between the source files of a folder. */
export async function findImports(folder: string): Promise<Import[]> {
  const found: Import[] = [];
  for await (const [from, text] of sourceFiles(folder)) {
    for (const [, type, target, lazy] of text.matchAll(IMPORT)) {
      const url = new URL(target ?? lazy ?? '', `file://${folder}/${from}`);
      const to = relative(folder, Bun.fileURLToPath(url));
      found.push({ from, to, isValue: type === undefined && lazy === undefined, isLazy: lazy !== undefined });
    }
  }
  return found;
}

/** The rings of files that load each other, each as `a -> b -> a`. */
export function findRings(imports: readonly Import[]): string[] {
  const targets = Map.groupBy(
    imports.filter(({ isValue }) => isValue),
    ({ from }) => from,
  );
  const known = new Set<string>();
  const rings: string[] = [];
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) rings.push([...path.slice(path.indexOf(file)), file].join(' -> '));
    if (known.has(file)) return;
    known.add(file);
    for (const { to } of targets.get(file) ?? []) visit(to, [...path, file]);
  };

  for (const file of targets.keys()) visit(file, []);
  return rings;
}
