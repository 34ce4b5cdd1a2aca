import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files of `examples` that hold snippets, by the name of their language. */
export const EXAMPLES = {
  curl: 'curl/read.sh',
  stream: 'curl/follow.sh',
  python: 'python/main.py',
  java: 'java/src/main/java/Main.java',
  rust: 'rust/src/main.rs',
  go: 'go/main.go',
  'python-ofrep': 'python-ofrep/main.py',
  'java-ofrep': 'java-ofrep/src/main/java/Main.java',
  'go-ofrep': 'go-ofrep/main.go',
  javascript: 'javascript/main.mjs',
  node: 'node/main.mjs',
  react: 'react/page.jsx',
  handler: 'react/server.ts',
  web: 'web/page.mjs',
} as const;

/** One of the examples. */
export type ExampleName = keyof typeof EXAMPLES;

const PART = /^([ \t]*)(?:\/\/|#) snippet(?:: (\S+))?\n([\s\S]*?)^[ \t]*(?:\/\/|#) end of snippet$/gm;

/**
 * The snippet of an example: what is between its comments `snippet` and `end of snippet`, without indentation. Several
 * parts are joined by an empty line. `part` chooses those that are marked `snippet: <part>`. It reads the flag `dark-mode`
 * in `development` at `http://127.0.0.1:7070` for `user-1`. Throws when there is no such part.
 */
export function exampleSnippet(name: ExampleName, part?: string): string {
  const file = EXAMPLES[name];
  const source = readFileSync(join(import.meta.dir, file), 'utf8');
  const parts = [...source.matchAll(PART)]
    .filter(([, , marked]) => marked === part)
    .map(([, indent = '', , code = '']) => code.replaceAll(new RegExp(`^${indent}`, 'gm'), '').trim());
  if (parts.length === 0) throw new Error(`${file} has no snippet${part === undefined ? '' : ` ${part}`}`);
  return parts.join('\n\n');
}
