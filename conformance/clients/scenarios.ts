import type { Scenario } from './scenario.ts';
import { FIRST } from './scenarios/first.ts';

/** Every scenario, in the order of the clauses. */
export const SCENARIOS: readonly Scenario[] = [...FIRST];
