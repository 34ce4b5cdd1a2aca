import { simulateDue } from './due-history.ts';
import { SimulatedEngine } from './engine.ts';
import { type HistoryOptions, type HistoryResult, simulate } from './history.ts';
import { shrink } from './shrink.ts';
import { simulateStore } from './store-history.ts';

/** Which histories to run. */
export interface ManyOptions extends HistoryOptions {
  readonly histories: number;
  readonly minutes: number;
  /** Print what the processes logged in histories that fail. */
  readonly isLogged: boolean;
  /** A line of the product is broken: stop at the first history that fails. */
  readonly isPlanted: boolean;
}

/** What must have happened somewhere in many histories: where nothing goes wrong, nothing is proven. */
export const MUST_HAPPEN = [
  'asked to come again',
  'behind answered',
  'change',
  'last known flags',
  'client ready',
  'client stale',
  'continued',
  'epoch begun',
  'epoch lost',
  'frame',
  'read 200 stale',
  'read 401',
  'snapshot taken',
  'stream 500',
  'token took over',
  'token waited',
  'wake lost',
  'due: rollout.advanced',
  'due: schedule.applied',
  'due: schedule.cancelled',
  'due: sent at once',
  'write: made',
  'write: no rights',
  'write: not made',
  'write: reference closed',
] as const;

/** In so many histories of all kinds of faults, everything of it does happen. */
const FLOOR_HISTORIES = 100;

/** Runs histories of fleets, and of writers, and prints what came of them. Returns the exit code. */
export async function simulateMany(options: ManyOptions): Promise<number> {
  const { seed: first, histories: most, minutes, isLogged, isPlanted, ...rest } = options;
  const empty = await SimulatedEngine.empty();
  const begunAt = performance.now();
  const endsAt = begunAt + minutes * 60_000;
  const totals = new Map<string, number>();
  let [histories, failed, events, virtualMs, violations] = [0, 0, 0, 0, 0];
  for (; histories < most && performance.now() < endsAt; histories++) {
    const result = attempt({ ...rest, seed: first + histories }, empty);
    events += result.events;
    virtualMs += result.virtualMs;
    violations += result.violations.length;
    for (const [what, count] of result.counts) totals.set(what, (totals.get(what) ?? 0) + count);
    if (result.violations.length === 0) continue;
    failed++;
    tell(result, isLogged);
    if (isPlanted) break;
    tellShortest(result);
  }

  const seconds = (performance.now() - begunAt) / 1_000;
  if (isPlanted) say(`${histories + failed} histories, ${failed === 0 ? 'not found' : 'found'}\n`);
  else for (const [what, count] of [...totals].sort()) say(`${String(count).padStart(9)} ${what}\n`);
  say(`${events} events, ${Math.round(virtualMs / 1_000 / seconds)} times real time\n`);
  const isWhole = histories >= FLOOR_HISTORIES && rest.kinds === undefined && rest.mode === undefined;
  const missing = MUST_HAPPEN.filter((what) => isWhole && !isPlanted && !totals.has(what));
  if (missing.length > 0) say(`never happened, so nothing is proven: ${missing.join(', ')}\n`);
  say(`${histories} histories, ${failed} failed, ${violations} violations\n`);
  return failed === 0 && missing.length === 0 ? 0 : 1;
}

/** What happens beside a fleet, with its seed: every fourth has writers, and every fourth has what is due. */
export function simulateBeside(
  seed: number,
  empty: Uint8Array,
): Pick<HistoryResult, 'violations' | 'counts'> | undefined {
  const [kind, name, simulateIt] =
    seed % 4 === 1
      ? (['store', 'write', simulateStore] as const)
      : seed % 4 === 3
        ? (['due', 'due', simulateDue] as const)
        : [];
  if (kind === undefined) return undefined;
  const { violations, counts } = simulateIt(seed, empty);
  return {
    violations: violations.map((story) => ({ kind, at: 0, node: name, story })),
    counts: new Map([...counts].map(([what, count]) => [`${name}: ${what}`, count])),
  };
}

/** An error that nothing caught is a failure of its history. */
function attempt(options: HistoryOptions, empty: Uint8Array): HistoryResult {
  const { seed } = options;
  try {
    const ofFleet = simulate(options);
    const beside = simulateBeside(seed, empty);
    if (beside === undefined) return ofFleet;
    return {
      ...ofFleet,
      counts: new Map([...ofFleet.counts, ...beside.counts]),
      violations: [...ofFleet.violations, ...beside.violations],
    };
  } catch (error) {
    throw new Error(`seed ${seed} broke`, { cause: error });
  }
}

function tell({ seed, mode, violations, said }: HistoryResult, isLogged: boolean): void {
  say(`seed ${seed} (${mode}): ${violations.length} violations\n`);
  const seen = new Set<string>();
  for (const { kind, at, story } of violations) {
    if (seen.has(kind)) continue;
    seen.add(kind);
    say(`  [${kind}] at ${(at / 1_000).toFixed(1)} s: ${story}\n`);
  }
  if (isLogged) for (const line of said) say(`    ${line}\n`);
}

/** Prints the shortest weather that was found to break the first promise, and how to repeat it. */
function tellShortest(failed: HistoryResult): void {
  const [first] = failed.violations;
  // Writers and what is due have no weather: their seed says all.
  if (first === undefined || first.kind === 'store' || first.kind === 'due') return;
  const { seed, mode, faults } = shrink(failed, first.kind);
  say(`  ${faults.length} of ${failed.faults.length} faults are enough for [${first.kind}]:\n`);
  for (const { kind, at, ms, where, how } of faults)
    say(
      `    at ${(at / 1_000).toFixed(2)} s ${kind}, ${Math.round(ms)} ms, where ${where}, how ${how.toFixed(2)}\n`,
    );
  say(`  bun run simulate --seed ${seed} --mode ${mode} --weather '${JSON.stringify(faults)}'\n`);
}

function say(text: string): void {
  process.stdout.write(text);
}
