import { type startNode, within } from '@halyard/testing';
import type { Machine } from './machine.ts';
import type { Row } from './row.ts';

/** How long anything the bench waits for may take, in milliseconds; far longer than it ever should. */
export const PATIENCE_MS = 60_000;

/** The tree whose node is measured: this one, or an older one to compare with. */
export interface Checkout {
  readonly root: string;
  /** That tree's own function of this name. */
  readonly startNode: typeof startNode;
}

/** The input of every subject. */
export interface Bench {
  readonly machine: Machine;
  readonly checkout: Checkout;
  /** Says on standard error what is going on. */
  readonly say: (text: string) => void;
  /** Notes what could not be measured here, and why. */
  readonly leaveOut: (what: string) => void;
}

/** The result of some work; undefined, and left out with the reason, when it fails or takes too long. */
export async function attempt<T>(
  bench: Bench,
  what: string,
  work: () => Promise<T>,
  patienceMs: number,
): Promise<T | undefined> {
  try {
    return await within('its end', work(), patienceMs);
  } catch (error) {
    bench.leaveOut(`${what}: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/** Measures one subject. Whatever it starts has ended when it settles. */
export type Subject = (bench: Bench) => Promise<readonly Row[]>;
