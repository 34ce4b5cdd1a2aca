import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SPECIFICATION = readFileSync(join(import.meta.dir, '../docs/specification.md'), 'utf8');

/** Every clause that the specification states. */
const stated = [...SPECIFICATION.matchAll(/^- \*\*(S\d+\.\d+)\*\* /gm)].map(([, clause = '']) => clause);

/** The clauses that the specification's last section excuses, each with a reason. */
const excused = [...SPECIFICATION.matchAll(/^\| (S\d+\.\d+) \| \S.+ \|$/gm)].map(([, clause = '']) => clause);

/** The clauses that names of conformance tests cite. */
const cited = new Set(
  readdirSync(import.meta.dir)
    .filter((file) => file.endsWith('.test.ts'))
    .flatMap((file) => testNames(readFileSync(join(import.meta.dir, file), 'utf8')))
    .flatMap((name) => name.match(/S\d+\.\d+/g) ?? []),
);

test('no clause is numbered twice, and the numbers of a section run without gaps', () => {
  const next = new Map<string, number>();
  for (const clause of stated) {
    const [section = '', number] = clause.slice(1).split('.');
    const expected = (next.get(section) ?? 0) + 1;
    expect(`S${section}.${number}`).toBe(`S${section}.${expected}`);
    next.set(section, expected);
  }
  expect(next.size).toBe(27);
});

test('every clause has a conformance test or a stated reason for having none', () => {
  const missing = stated.filter((clause) => !cited.has(clause) && !excused.includes(clause));
  expect(missing).toEqual([]);
});

test('every conformance test cites a clause that exists, and no excused clause has become testable', () => {
  expect([...cited].filter((clause) => !stated.includes(clause))).toEqual([]);
  expect(excused.filter((clause) => cited.has(clause) || !stated.includes(clause))).toEqual([]);
});

function testNames(source: string): string[] {
  return [...source.matchAll(/\btest\(\s*(['"`])(.*?)\1/gs)].map(([, , name = '']) => name);
}
