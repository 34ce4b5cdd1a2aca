import type { Machine } from './machine.ts';
import type { Row } from './row.ts';

/** The input of every subject. */
export interface Bench {
  readonly machine: Machine;
  /** Says on standard error what is going on. */
  readonly say: (text: string) => void;
  /** Notes what could not be measured here, and why. */
  readonly leaveOut: (what: string) => void;
}

/** Measures one subject. Whatever it starts has ended when it settles. */
export type Subject = (bench: Bench) => Promise<readonly Row[]>;
