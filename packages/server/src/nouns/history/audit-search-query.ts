import { defined } from '@halyard/protocol';
import type { Parameter, Queryable } from '../../storage/database.ts';
import {
  COMMON_ACTION,
  IS_FIRST_IN_STRETCH,
  IS_SELDOM,
  NOT_ABOUT_PEOPLE,
  STRETCH,
} from '../../storage/places.ts';
import { likeText, spellings } from '../../storage/search.ts';

/** The place of an entry in the audit log: its `seq`, time and position in its operation, all descending. */
export type AuditPlace = readonly [seq: number, at: number, position: number];

/** Which audit entries to read. */
export interface AuditFilter {
  /** Leaves out entries about people and their credentials. */
  readonly withoutPeople?: boolean;
  /** Only entries of these projects; absent: of all, and of none. */
  readonly projectIds?: readonly string[];
  readonly projectId?: string;
  readonly environmentId?: string;
  readonly target?: string;
  /** The whole name, as in `operator:ada@example.com`. */
  readonly actor?: string;
  /** A whole action such as `flag.archived`, or a noun alone: `flag`. */
  readonly action?: string;
  /** Found in the target, the actor or the note; upper and lower case are equal. */
  readonly text?: string;
  /** Epoch milliseconds: from `since`, before `until`. */
  readonly since?: number;
  readonly until?: number;
  /** Only entries with a smaller `seq`; for paging. */
  readonly beforeSeq?: number;
  /** Only entries after this place, which is older. */
  readonly after?: AuditPlace;
  /** Entries at most, except that the last `seq` is always complete, so that paging skips nothing. */
  readonly limit: number;
}

/** How far the clocks of nodes that write to one log may be apart at most, in milliseconds. */
const CLOCK_SKEW_MS = 86_400_000;

/** Writes a condition, and its values with `add`, which returns their place in the statement. */
export type Condition = (add: (value: Parameter) => string) => string;

/** Numbers of changes: from the first, before the other one. */
interface Run {
  readonly first?: number;
  readonly before?: number;
}

/** What a search of the audit log looks through, and what it looks for there. */
export interface Search {
  /** Conditions that one index answers together with the order. */
  readonly indexed: readonly Condition[];
  readonly others: readonly Condition[];
  /** Where to continue after it; absent at the end of the log. */
  readonly end?: AuditPlace;
}

/** Stretches that one page looks through at most. */
const STRETCHES = 128;

/** The searches that make a page one after the other, newest first: through one index, or in the stretches that it names. */
export async function searchesFor(db: Queryable, filter: AuditFilter): Promise<readonly Search[]> {
  const { projectId, environmentId, target, actor, action, text, since, until, beforeSeq, after } = filter;
  const wholeAction = action?.includes('.') ? action : undefined;
  const isCommon = wholeAction === COMMON_ACTION;

  // The first is likely to leave the fewest rows; the target has an index together with its project.
  const byEnvironment = is('environment_id =', environmentId);
  const byActor = is('actor =', actor);
  const choices = [
    projectId === undefined
      ? []
      : [...is('target =', target), ...(target === undefined ? [] : is('project_id =', projectId))],
    byEnvironment,
    byActor,
    wholeAction === undefined || isCommon ? [] : [...is('action =', wholeAction), () => IS_SELDOM],
    is('project_id =', projectId),
  ];
  const chosen = choices.find((choice) => choice.length > 0) ?? [];

  const from = await seqAt(db, since, -CLOCK_SKEW_MS);
  const before = await seqAt(db, until, CLOCK_SKEW_MS);
  const ends = [before, beforeSeq, after && after[0] + 1].filter((end) => end !== undefined);
  const run: Run = defined({ first: from, before: ends.length === 0 ? undefined : Math.min(...ends) });
  const rest = after === undefined ? [] : [isAfter(after)];

  const others: Condition[] = [
    ...choices.filter((choice) => choice !== chosen).flat(),
    ...(projectId === undefined ? is('target =', target) : []),
    ...(isCommon ? is('action =', wholeAction) : []),
    ...is('at >=', since),
    ...is('at <', until),
    // A noun alone means all its actions.
    ...(action === undefined || wholeAction !== undefined
      ? []
      : [((add) => `action LIKE ${add(`${likeText(action)}.%`)} ESCAPE '\\'`) satisfies Condition]),
    ...(filter.withoutPeople === true ? [() => NOT_ABOUT_PEOPLE] : []),
    ...(filter.projectIds === undefined ? [] : [isInOneOf(filter.projectIds)]),
    ...(text === undefined ? [] : [isFoundIn(text)]),
  ];

  if (chosen === byEnvironment || chosen === byActor) {
    const { runs, isAll } = await findStretches(db, chosen, run);
    return runs.map((each, index) => ({
      indexed: [...inRun(each), ...rest],
      others: [...chosen, ...others],
      // No time and no position is before these.
      ...(isAll && index === runs.length - 1 ? {} : { end: [each.first, 0, 0] }),
    }));
  }

  // SQLite uses the index for the order only with a condition on it.
  const whole = chosen.length > 0 ? run : { first: 0, ...run };
  return [{ indexed: [...chosen, ...inRun(whole), ...rest], others }];
}

/** The newest stretches of a run with entries that an index of stretches finds, those side by side as one run. */
async function findStretches(
  db: Queryable,
  chosen: readonly Condition[],
  { first = 0, before = Number.MAX_SAFE_INTEGER }: Run,
): Promise<{ readonly runs: readonly Required<Run>[]; readonly isAll: boolean }> {
  const startOf = (seq: number) => seq - (seq % STRETCH);
  const indexed = [...chosen, ...inRun({ first: startOf(first), before: startOf(before - 1) + STRETCH })];
  const found = await select<{ seq: number }>(
    db,
    (add) => `SELECT seq FROM audit_log ${where([...indexed, () => IS_FIRST_IN_STRETCH], add)}
      ORDER BY seq DESC LIMIT ${add(STRETCHES)}`,
  );

  const runs: { first: number; before: number }[] = [];
  for (const start of new Set(found.map(({ seq }) => startOf(seq)))) {
    const newer = runs.at(-1);
    if (newer?.first === start + STRETCH) newer.first = start;
    else runs.push({ first: start, before: start + STRETCH });
  }

  return {
    runs: runs.map((run) => ({ first: Math.max(run.first, first), before: Math.min(run.before, before) })),
    isAll: found.length < STRETCHES,
  };
}

/** SQLite goes to the first bound on a side, and reads every entry up to a second one. */
function inRun({ first, before }: Run): readonly Condition[] {
  return [...is('seq >=', first), ...is('seq <', before)];
}

/** A column with an operator, compared with a value if there is one. */
function is(compared: string, value: Parameter | undefined): readonly Condition[] {
  return value === undefined ? [] : [(add) => `${compared} ${add(value)}`];
}

/** Only entries after a place. */
export function isAfter([seq, at, position]: AuditPlace): Condition {
  return (add) => `(seq, at, position) < (${add(seq)}, ${add(at)}, ${add(position)})`;
}

function isInOneOf(projectIds: readonly string[]): Condition {
  return (add) => `project_id IN (${projectIds.map(add).join(', ')})`;
}

function isFoundIn(text: string): Condition {
  return (add) => {
    const matches = spellings(text).flatMap((words) => {
      const pattern = add(`%${likeText(words)}%`);
      const columns = ['target', 'actor', `COALESCE(note, '')`];
      return columns.map((column) => `lower(${column}) LIKE ${pattern} ESCAPE '\\'`);
    });
    return `(${matches.join(' OR ')})`;
  };
}

/**
 * The first `seq` whose entry is from `time` (epoch milliseconds, plus `slackMs`) or later. Times grow along the log, but
 * for the clocks of its writers, so that a search by halves finds it without an index of times.
 */
async function seqAt(db: Queryable, time: number | undefined, slackMs: number): Promise<number | undefined> {
  if (time === undefined) return undefined;
  const [ends] = await db.query<{ first: number | null; last: number | null }>(
    'SELECT (SELECT min(seq) FROM audit_log) AS first, (SELECT max(seq) FROM audit_log) AS last',
  );

  let low = ends?.first ?? 0;
  let high = (ends?.last ?? 0) + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [found] = await db.query<{ seq: number; at: number }>(
      'SELECT seq, at FROM audit_log WHERE seq >= $1 ORDER BY seq LIMIT 1',
      [middle],
    );
    if (found === undefined || found.at >= time + slackMs) high = middle;
    else low = found.seq + 1;
  }
  return low;
}

/** Runs the statement that is written with `add`. */
export function select<Row>(
  db: Queryable,
  write: (add: (value: Parameter) => string) => string,
): Promise<Row[]> {
  const parameters: Parameter[] = [];
  const text = write((value) => `$${parameters.push(value)}`);
  return db.query<Row>(text, parameters);
}

/** The clause of these conditions. */
export function where(conditions: readonly Condition[], add: (value: Parameter) => string): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.map((write) => write(add)).join(' AND ')}`;
}
