import { expect, setDefaultTimeout, test } from 'bun:test';
import { within } from '@halyard/testing';
import { simulate } from './history.ts';
import { MUST_HAPPEN } from './many.ts';
import { PLANTS, planted } from './plants.ts';
import { shrink } from './shrink.ts';

setDefaultTimeout(180_000);

/** Enough to meet every kind of fault; more are for `bun run simulate`. */
const SEEDS = Array.from({ length: 25 }, (_, index) => index + 1);

/**
 * Seeds that failed once: a chain of relays that passed ages on late, and relays that a node took back because it had not
 * noticed that its epoch was over.
 */
const MENDED = [1010, 62, 2163, 3078, 1_000_010];

test('readers of simulated fleets get what the log says, whatever fails', () => {
  const happened = new Set<string>();
  const stories: string[] = [];
  for (const seed of [...SEEDS, ...MENDED]) {
    const { violations, counts } = simulate({ seed });
    for (const { kind, story } of violations.slice(0, 3)) stories.push(`seed ${seed}: [${kind}] ${story}`);
    for (const what of counts.keys()) happened.add(what);
  }
  expect(stories).toEqual([]);
  expect(MUST_HAPPEN.filter((what) => !happened.has(what))).toEqual([]);
});

test('a seed repeats its history, event by event', () => {
  const first = simulate({ seed: 5 });
  simulate({ seed: 6 });
  const again = simulate({ seed: 5 });
  expect([again.digest, again.events]).toEqual([first.digest, first.events]);
});

test('a history that loses rows without a new epoch would be noticed', () => {
  // The weather is data: a list that was found by a seed can be shortened by hand.
  const lost = { kind: 'history lost', at: 4_000, ms: 0, where: 0, how: 0.9 } as const;
  const { counts, violations } = simulate({ seed: 3, faults: [lost] });
  expect([counts.get('fault history lost'), counts.get('epoch begun'), violations]).toEqual([1, 1, []]);
});

test('a weather that fails is shortened to what it needs', () => {
  // A history that never heals is not current in the end: one hole is enough, and all else is dropped.
  const hole = { kind: 'hole', at: 70_000, ms: 60_000, where: 0, how: 0 } as const;
  const other = { kind: 'reset', at: 5_000, ms: 0, where: 1, how: 0 } as const;
  const failed = simulate({ seed: 3, mode: 'heals', faults: [other, other, hole, other] });
  expect(shrink(failed, 'liveness').faults).toEqual([hole]);
});

test('every planted fault still has its line in the product', async () => {
  // It throws where the line is missing, or is there twice.
  for (const plant of PLANTS) expect(await planted(plant)).toContain(plant.to);
});

test('a planted fault is found', async () => {
  const args = ['--plant', 'streams stay open at a loss', '--seed', '1', '--histories', '3'];
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/run.ts`, ...args]);
  expect(await within('it has ended', child.stdout.text(), 60_000)).toContain(' histories, found\n');
});

test('the read plane takes its timers from where a simulation can replace them', async () => {
  const folder = `${import.meta.dir}/../packages/server/src/evaluation`;
  const found: string[] = [];
  for await (const file of new Bun.Glob('**/*.ts').scan(folder)) {
    if (/(^|\/)test-|\.test\.ts$/.test(file)) continue;
    if ((await Bun.file(`${folder}/${file}`).text()).includes("'node:timers")) found.push(file);
  }
  expect(found).toEqual([]);
});
