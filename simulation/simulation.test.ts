import { expect, setDefaultTimeout, test } from 'bun:test';
import { simulate } from './history.ts';

setDefaultTimeout(60_000);

/** Enough to meet every kind of fault; more are for `bun run simulate`. */
const SEEDS = Array.from({ length: 30 }, (_, index) => index + 1);

/** What must have happened somewhere in them: a history in which nothing goes wrong proves nothing. */
const MUST_HAPPEN = [
  'epoch begun',
  'fault hole',
  'fault key revoked',
  'fault kill',
  'fault move',
  'fault pause',
  'fault rotate',
  'fault wake lost',
  'frame',
  'read 200 stale',
  'read 401',
  'stream 500',
];

test('readers of simulated fleets get what the log says, whatever fails', () => {
  const happened = new Set<string>();
  const stories: string[] = [];
  for (const seed of SEEDS) {
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

test('the read plane takes its timers from where a simulation can replace them', async () => {
  const folder = `${import.meta.dir}/../packages/server/src/evaluation`;
  const found: string[] = [];
  for await (const file of new Bun.Glob('**/*.ts').scan(folder)) {
    if (/(^|\/)test-|\.test\.ts$/.test(file)) continue;
    if ((await Bun.file(`${folder}/${file}`).text()).includes("'node:timers")) found.push(file);
  }
  expect(found).toEqual([]);
});
