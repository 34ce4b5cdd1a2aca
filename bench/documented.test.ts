import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PEER_TABLES } from './peers/run.ts';
import { DIMENSION_NAMES } from './scale/run.ts';

const ROOT = join(import.meta.dir, '..');
const SUBJECTS = new Set(
  [...readFileSync(join(import.meta.dir, 'run.ts'), 'utf8').matchAll(/^ {2}'?([a-z-]+)'?: async/gm)].map(
    ([, name]) => name,
  ),
);

/** Every `bun run bench …` of a text, as the names that it gives. */
function benchesIn(text: string): string[][] {
  return [...text.matchAll(/bun run bench((?: +[a-z][a-z-]*)*)/g)].map(([, names = '']) =>
    names.split(' ').filter((name) => name !== ''),
  );
}

function isKnown([first = '', ...rest]: readonly string[]): boolean {
  if (first === 'scale') return rest.every((name) => DIMENSION_NAMES.includes(name));
  if (first === 'peers') return rest.every((name) => PEER_TABLES.some((table) => table === name));
  return [first, ...rest].every((name) => name === '' || SUBJECTS.has(name));
}

test('every table of figures names the command that repeats it, and the commands exist', () => {
  const [performance = '', growing = ''] = ['performance', 'growing'].map((name) =>
    readFileSync(join(ROOT, `docs/${name}.md`), 'utf8'),
  );
  const [, figures = ''] = /\n## Figures\n([\s\S]*?)\n## /.exec(performance) ?? [];
  const silent = figures.split('\n### ').filter((section) => benchesIn(section).length === 0);
  expect(silent.map((section) => section.split('\n')[0])).toEqual([]);

  const named = [...benchesIn(performance), ...benchesIn(growing)];
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((names) => !isKnown(names))).toEqual([]);
});
