import type { startNode } from '@halyard/testing';
import type { Machine } from './machine.ts';
import type { Row } from './row.ts';

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

/** Measures one subject. Whatever it starts has ended when it settles. */
export type Subject = (bench: Bench) => Promise<readonly Row[]>;
