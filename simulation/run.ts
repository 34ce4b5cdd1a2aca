#!/usr/bin/env bun
/** `bun run simulate`: histories of the read plane in virtual time. */
import { parseArgs } from 'node:util';
import { simulate } from './history.ts';
import { FAULT_KINDS, type FaultKind } from './weather.ts';

const HELP = `bun run simulate [options]

  --seed <n>       the first seed; default random
  --histories <n>  how many histories, each with the next seed; default: as many as --minutes allows
  --minutes <n>    how long to go on; default 1
  --only <list>    only these faults, separated by commas: ${FAULT_KINDS.join(', ')}
  --log            print what the processes logged in histories that fail
`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    histories: { type: 'string' },
    minutes: { type: 'string', default: '1' },
    only: { type: 'string' },
    log: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) say(HELP);
else process.exitCode = run();

function run(): number {
  const first = Number(values.seed);
  const most = values.histories === undefined ? Number.POSITIVE_INFINITY : Number(values.histories);
  const begunAt = performance.now();
  const endsAt = begunAt + Number(values.minutes) * 60_000;
  const totals = new Map<string, number>();
  let [histories, failed, events, virtualMs, violations] = [0, 0, 0, 0, 0];
  for (; histories < most && performance.now() < endsAt; histories++) {
    const seed = first + histories;
    const kinds = values.only?.split(',').map(kindOf);
    const result = simulate({ seed, ...(kinds === undefined ? {} : { kinds }) });
    events += result.events;
    virtualMs += result.virtualMs;
    violations += result.violations.length;
    for (const [what, count] of result.counts) totals.set(what, (totals.get(what) ?? 0) + count);
    if (result.violations.length === 0) continue;
    failed++;
    say(`seed ${seed}: ${result.violations.length} violations\n`);
    const kindsSeen = new Set<string>();
    for (const { kind, at, story } of result.violations) {
      if (kindsSeen.has(kind)) continue;
      kindsSeen.add(kind);
      say(`  [${kind}] at ${(at / 1_000).toFixed(1)} s: ${story}\n`);
    }
    if (values.log) for (const line of result.said) say(`    ${line}\n`);
  }
  const seconds = (performance.now() - begunAt) / 1_000;
  for (const [what, count] of [...totals].sort()) say(`${String(count).padStart(9)} ${what}\n`);
  say(`${events} events, ${Math.round(virtualMs / 1_000 / seconds)} times real time\n`);
  say(`${histories} histories, ${failed} failed, ${violations} violations\n`);
  return failed === 0 ? 0 : 1;
}

function kindOf(name: string): FaultKind {
  const kind = FAULT_KINDS.find((each) => each === name);
  if (kind === undefined)
    throw new Error(`there is no fault ${name}: choose among ${FAULT_KINDS.join(', ')}`);
  return kind;
}

function say(text: string): void {
  process.stdout.write(text);
}
