import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '../../..');

/** What `docs/architecture.md` names by a path from `packages/` or from the root. */
const PATH =
  /`((?:server|dashboard|client|protocol|testing)\/src\/[\w./-]+|(?:docs|packages|conformance)\/[\w./-]+)`/g;

/** A path with names that are in the file. */
const NAMES = /`([\w-]+\/[\w/.-]+\.ts)`: ((?:`\w+`(?:, )?)+)/g;

/** A row of the way of a change, whose paths begin in `server/src`. */
const STEP = /^\| \d+ \| `([\w./-]+)`/gm;

test('every place that the architecture names is there', async () => {
  const text = await Bun.file(join(ROOT, 'docs/architecture.md')).text();
  const steps = [...text.matchAll(STEP)].map(([, path = '']) => `server/src/${path}`);
  const named = new Set([...[...text.matchAll(PATH)].map(([, path = '']) => path), ...steps]);
  expect(steps.length).toBeGreaterThan(15);
  expect(named.size).toBeGreaterThan(80);

  const isThere = (path: string) => existsSync(join(ROOT, 'packages', path)) || existsSync(join(ROOT, path));
  expect([...named].filter((path) => !isThere(path))).toEqual([]);
});

test('every name that the architecture gives with a place is in that file', async () => {
  const text = await Bun.file(join(ROOT, 'docs/architecture.md')).text();
  const missing: string[] = [];
  let found = 0;
  for (const [, path = '', names = ''] of text.matchAll(NAMES)) {
    const source = await Bun.file(join(ROOT, 'packages', path)).text();
    for (const [, name = ''] of names.matchAll(/`(\w+)`/g)) {
      found++;
      if (!new RegExp(`\\b${name}\\b`).test(source)) missing.push(`${path}: ${name}`);
    }
  }

  expect(found).toBeGreaterThan(5);
  expect(missing).toEqual([]);
});
