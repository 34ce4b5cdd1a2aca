/** Writes API.md from the declarations of the package: `bun scripts/api-reference.ts`. */
import { dirname, join, relative, resolve } from 'node:path';
import { temporaryFolder } from '@halyard/testing';
import { buildPackage } from './build.ts';
import { ENTRIES } from './public-manifest.ts';

const PACKAGE = dirname(import.meta.dir);

/** A declaration at the top of a file. */
interface Declaration {
  readonly name: string;
  readonly comment: string;
  readonly code: string;
}

/** The reference as Markdown, from a folder that holds the built package. */
export async function apiReference(built: string): Promise<string> {
  const parts = [
    '# Client reference',
    '',
    'Every export of every entry, as the compiler sees it. Written by `bun scripts/api-reference.ts`.',
  ];
  for (const [subpath, entry] of Object.entries(ENTRIES)) {
    parts.push('', `## @halyard/client${subpath.slice(1)}`, '');
    const exported = await exportsOf(join(built, `types/client/src/${entry}.d.ts`));
    for (const { name, comment, code } of exported) {
      parts.push(`### ${name}`, '', ...(comment ? [comment, ''] : []), '```ts', code, '```', '');
    }
  }
  return `${parts.join('\n').trimEnd()}\n`;
}

/** What a declaration file exports, its own declarations and those it passes on, by name. */
async function exportsOf(file: string): Promise<Declaration[]> {
  const text = await Bun.file(file).text();
  const found = declarationsIn(text);
  for (const [, names = '', target = ''] of text.matchAll(/^export (?:type )?\{([^}]*)\} from '([^']+)'/gm)) {
    const wanted = names.split(',').map((name) => name.replace(/\btype\b/, '').trim());
    const next = resolve(dirname(file), target.replace(/\.js$/, '.d.ts'));
    found.push(...(await exportsOf(next)).filter(({ name }) => wanted.includes(name)));
  }
  for (const [, target = ''] of text.matchAll(/^export \* from '([^']+)'/gm))
    found.push(...(await exportsOf(resolve(dirname(file), target.replace(/\.js$/, '.d.ts')))));
  return found.sort((a, b) => a.name.localeCompare(b.name, 'en'));
}

/** The compiler writes one declaration after the other, each with its comment before it and nothing indented. */
function declarationsIn(text: string): Declaration[] {
  const pattern =
    /(?:^\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?^(export (?:declare )?(?:abstract )?(?:interface|type|class|function|const) (\w+)[\s\S]*?)(?=\n(?:\/\*\*|export |import |declare |\/\/\/|$(?![\s\S])))/gm;
  const byName = new Map<string, Declaration>();
  for (const [, comment = '', code = '', name = ''] of text.matchAll(pattern)) {
    const before = byName.get(name);
    const lines = comment.split('\n').map((line) => line.replace(/^\s*\* ?/, ''));
    byName.set(name, {
      name,
      comment:
        before?.comment ||
        lines
          .join('\n')
          .trim()
          .replaceAll(/\{@link ([^}]+)\}/g, '`$1`')
          .replaceAll('@example\n', ''),
      code: `${before ? `${before.code}\n` : ''}${code
        .trim()
        .replaceAll(/^ {4}/gm, '  ')
        .replace(/^export (declare )?/, '')}`,
    });
  }
  return [...byName.values()];
}

if (import.meta.main) {
  using folder = temporaryFolder();
  await buildPackage(folder.path);
  const file = join(PACKAGE, 'API.md');
  await Bun.write(file, await apiReference(folder.path));
  process.stdout.write(`${relative(process.cwd(), file)}\n`);
}
