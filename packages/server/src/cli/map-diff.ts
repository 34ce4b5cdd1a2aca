import { describeState, describeStep } from './state-text.ts';
import { printable } from './table.ts';

/** Flag states by key, as one frame of a stream holds them. */
export type States = ReadonlyMap<string, unknown>;

/** What changed from one frame to the next, one line per flag, sorted by key; empty when nothing did. */
export function describeChanges(before: States, after: States): string[] {
  const keys = [...new Set([...before.keys(), ...after.keys()])].sort();
  return keys.flatMap((key) => {
    const [old, now] = [before.get(key), after.get(key)];
    if (JSON.stringify(old) === JSON.stringify(now)) return [];
    const name = printable(key);
    if (old === undefined) return [`+ ${name}: ${describeState(now)}`];
    if (now === undefined) return [`- ${name} (was ${describeState(old)})`];
    return [`~ ${name}: ${describeStep(old, now)}`];
  });
}
