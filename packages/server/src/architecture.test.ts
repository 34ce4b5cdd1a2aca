import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '../../..');

/** What `docs/architecture.md` names by a path from `packages/` or from the root. */
const PATH =
  /`((?:server|dashboard|client|protocol|testing)\/src\/[\w./-]+|(?:docs|packages|conformance)\/[\w./-]+)`/g;

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
