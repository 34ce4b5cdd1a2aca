import { join } from 'node:path';
import { temporaryFolder } from '@halyard/testing';
import type { Bench, Checkout } from './bench.ts';
import { times } from './format.ts';
import type { Row } from './row.ts';
import { median } from './statistics.ts';

/** How often each side is measured. */
const TURNS = 2;

/** The tree of another commit, with its packages, in a folder that is removed with it. Needs git and, once, the registry. */
export async function openCheckout(bench: Bench, commit: string): Promise<Checkout & AsyncDisposable> {
  bench.say(`base: unpacking ${commit}`);
  const folder = temporaryFolder();
  const root = folder.path;
  await Bun.$`git -C ${bench.checkout.root} archive ${commit} | tar -x -C ${root}`.quiet();
  await Bun.$`${process.execPath} install --frozen-lockfile --silent`.cwd(root).quiet();
  if (await Bun.file(join(bench.checkout.root, 'dist/halyard')).exists()) {
    await Bun.$`${process.execPath} run build`.cwd(root).quiet();
  }
  const { startNode }: Pick<Checkout, 'startNode'> = await import(
    join(root, 'packages/testing/src/index.ts')
  );
  return { root, startNode, [Symbol.asyncDispose]: async () => folder.remove() };
}

/**
 * Measures a subject of the older tree and of this one in turns, by the same bench. Rows are those of this tree, in its last
 * turn, with the same figure of the older one as the reference; the ratio is that of the medians of all turns.
 */
export async function versus(
  bench: Bench,
  older: Checkout,
  measure: (side: Bench) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const turns: { readonly before: readonly Row[]; readonly now: readonly Row[] }[] = [];
  for (let turn = 1; turn <= TURNS; turn++) {
    bench.say(`base: turn ${turn} of ${TURNS}`);
    const before = await measure({ ...bench, checkout: older });
    turns.push({ before, now: await measure(bench) });
  }

  const { before = [], now = [] } = turns.at(-1) ?? {};
  return now.map(({ what, measured, reference }, index) => {
    const same = (row: Row) => row.what === what && named(row.reference) === named(reference);
    const of = (side: 'before' | 'now') =>
      turns.flatMap((turn) => turn[side].filter(same).flatMap(({ value }) => value ?? []));
    const [own, other] = [of('now'), of('before')];
    const old = before.find(same) ?? before[index];
    return {
      what,
      measured,
      reference: `before: ${old?.what === what ? old.measured : 'not measured'}`,
      ...(own.length > 0 && other.length > 0 && { ratio: times(median(own) / median(other)) }),
    };
  });
}

/** Rows of one subject differ in their reference as well, whose figure changes and whose name does not. */
function named(reference = ''): string {
  return reference.split(':')[0] ?? '';
}
