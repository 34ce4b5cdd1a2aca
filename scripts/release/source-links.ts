import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Where a file of the sources of a version is, by its path in the repository. */
function sourceOf(path: string, version: string): string {
  return `https://github.com/halyard-flags/halyard/blob/v${version}/${path}`;
}

/** The text of a page of the repository. Links to files that are missing, by `has`, lead to the sources of that version. */
export function withSourceLinks(
  text: string,
  {
    page,
    version,
    has,
  }: { readonly page: string; readonly version: string; readonly has: (path: string) => boolean },
): string {
  return text.replaceAll(/\]\((?![a-z]+:|#)([^)#]*)/g, (link, target: string) => {
    const path = join(dirname(page), target);
    return has(path) ? link : `](${sourceOf(path, version)}`;
  });
}

/** Does so for all pages of a folder, whose files have the same paths as in the repository. */
export async function mendLinks(folder: string, version: string): Promise<void> {
  for await (const file of new Bun.Glob('**/*.md').scan({ cwd: folder, absolute: true })) {
    const text = await Bun.file(file).text();
    const page = relative(folder, file);
    await Bun.write(
      file,
      withSourceLinks(text, { page, version, has: (path) => existsSync(join(folder, path)) }),
    );
  }
}
