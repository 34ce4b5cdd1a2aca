import { ServiceError } from '../../domain/errors.ts';
import { writeJson } from '../../domain/raw-json.ts';
import type { Queryable } from '../../storage/database.ts';
import { readEndOfLog } from '../webhooks/message-query.ts';
import type { ImportRules } from './document.ts';
import type { ImportPlan } from './plan.ts';
import { planRecord } from './plan-record.ts';
import { readChangesSince } from './since-query.ts';

/** A plan as {@link planName} names it: the change after which it was made, and a digest of what it does. */
export const PLAN_NAME = /^(\d{1,15})-([0-9a-f]{32})$/;

/** How many changes a refusal names. */
const NAMED = 5;

/** Names a plan that `db` has just made, so that an import can be asked to do exactly that. (Spec: S25.4) */
export async function planName(db: Queryable, rules: ImportRules, plan: ImportPlan): Promise<string> {
  return `${await readEndOfLog(db)}-${digestOf(rules, plan)}`;
}

/** Refuses with `revision_conflict` a plan that is no longer the one of this name, and says what has changed. (Spec: S25.4) */
export async function requirePlan(
  db: Queryable,
  name: string,
  { rules, plan }: { readonly rules: ImportRules; readonly plan: ImportPlan },
): Promise<void> {
  const [, since, digest] = PLAN_NAME.exec(name) ?? [];
  if (digest === digestOf(rules, plan)) return;

  const changes =
    plan.project === undefined ? [] : await readChangesSince(db, plan.project.id, Number(since), NAMED + 1);
  const named = changes
    .slice(0, NAMED)
    .map(({ target, environment }) => (environment === undefined ? target : `${environment}/${target}`));
  const what =
    named.length === 0
      ? 'the document or the options differ'
      : `these have changed: ${named.join(', ')}${changes.length > NAMED ? ' and more' : ''}`;
  throw new ServiceError(
    'revision_conflict',
    `Nothing was imported, because it would not do what the dry run showed; ${what}. Preview it again.`,
  );
}

/** Covers what an answer shows of the plan, and the states that leave with the flags it archives. */
function digestOf(rules: ImportRules, plan: ImportPlan): string {
  const archived = plan.flagsArchived.map(({ flag, states }) => [flag.key, ...states].flat());
  return Bun.SHA256.hash(writeJson([planRecord(rules, plan), archived]), 'hex').slice(0, 32);
}
