import { STEPS_FROM_APPROVALS } from './migrations/from-approvals.ts';
import { STEPS_FROM_RECORDS } from './migrations/from-records.ts';
import { STEPS_FROM_SIGN_ON } from './migrations/from-sign-on.ts';
import type { MigrationStep } from './migrations/step.ts';

/**
 * The schema's history: step n (from 1) leads from version n - 1 to n. A step that has been released never changes;
 * the next change is a new step, at the end of the last part.
 */
export const MIGRATIONS: readonly MigrationStep[] = [
  ...STEPS_FROM_RECORDS,
  ...STEPS_FROM_SIGN_ON,
  ...STEPS_FROM_APPROVALS,
];
