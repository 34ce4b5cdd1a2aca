import { defined } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { HOUR_MS } from '../../domain/clock.ts';
import type { Environment } from '../../domain/project.ts';
import { USAGE_RETENTION, type UsageOutcome } from '../../domain/usage.ts';
import type { ManagementContext } from '../../management/context.ts';
import { readEnvironments } from '../environments/environment-table.ts';
import { findFlag, findProject } from '../lookup.ts';
import { readHours, readHoursOf, readLastReads } from './usage-table.ts';

const DAY_MS = 24 * HOUR_MS;

/** Since when the reads of a project are counted; absent while they are not. */
interface Counted {
  readonly since?: number;
}

/** When the flags of a project were last read. */
export interface ProjectUsage extends Counted {
  /** The start of the last hour with a read in any environment, by flag key; absent for a flag that was never read. */
  readonly lastReads: ReadonlyMap<string, number>;
  /** The same for each environment, by its name. */
  readonly environments: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

/** How often a flag was read within a time that begins at `at`. */
export interface ReadsFrom {
  readonly at: number;
  on: number;
  off: number;
}

/** How often a flag was read in one environment. Times without reads are left out. */
export interface EnvironmentReads {
  readonly environment: Environment;
  readonly lastReadAt?: number;
  /** The last 24 hours, this one included. */
  readonly hours: readonly ReadsFrom[];
  /** The last 30 days in UTC, today included. */
  readonly days: readonly ReadsFrom[];
}

/** When the flags of a project were last read. `project_not_found`. */
export function readProjectUsage(
  context: ManagementContext,
  actor: Actor,
  project: string,
): Promise<ProjectUsage> {
  return context.store.read(async (db) => {
    const { id, usageSince } = await findProject(db, actor, project);
    const byId = Map.groupBy(await readLastReads(db, id, context.now()), (read) => read.environmentId);

    const lastReads = new Map<string, number>();
    const environments = new Map<string, ReadonlyMap<string, number>>();
    for (const environment of await readEnvironments(db, id)) {
      const own = new Map((byId.get(environment.id) ?? []).map(({ flagKey, hour }) => [flagKey, hour]));
      environments.set(environment.name, own);
      for (const [key, hour] of own) lastReads.set(key, Math.max(hour, lastReads.get(key) ?? 0));
    }

    return { ...defined({ since: usageSince }), lastReads, environments };
  });
}

/** How often a few flags were read in the last 24 hours, in all environments; none for a flag that does not exist. `project_not_found`. */
export function readRecentReads(
  context: ManagementContext,
  actor: Actor,
  { project, keys }: { readonly project: string; readonly keys: readonly string[] },
): Promise<Counted & { readonly flags: ReadonlyMap<string, readonly ReadsFrom[]> }> {
  return context.store.read(async (db) => {
    const { id, usageSince } = await findProject(db, actor, project);
    const now = context.now();
    const rows = await readHoursOf(db, { projectId: id, flagKeys: keys }, { since: firstHour(now), now });

    const byKey = Map.groupBy(rows, ({ flagKey }) => flagKey);
    const flags = new Map([...byKey].map(([key, own]) => [key, sums(own, HOUR_MS)]));
    return { ...defined({ since: usageSince }), flags };
  });
}

/** How often a flag was read in each environment. `project_not_found`, `flag_not_found`. */
export function readFlagUsage(
  context: ManagementContext,
  actor: Actor,
  { project, key }: { readonly project: string; readonly key: string },
): Promise<Counted & { readonly environments: readonly EnvironmentReads[] }> {
  return context.store.read(async (db) => {
    const { id, usageSince } = await findProject(db, actor, project);
    const flag = await findFlag(db, id, key);

    const now = context.now();
    const today = startOf(DAY_MS, now);
    const since = today - (USAGE_RETENTION.days - 1) * DAY_MS;

    const lastReads = new Map(
      (await readLastReads(db, id, now, key)).map((each) => [each.environmentId, each.hour]),
    );
    // An earlier flag of this key may have been read too.
    const from = Math.max(since, startOf(HOUR_MS, Math.min(flag.createdAt, now)));
    const rows = await readHours(db, { projectId: id, flagKey: key }, { since: from, now });

    const byEnvironment = Map.groupBy(rows, (row) => row.environmentId);
    const environments = (await readEnvironments(db, id)).map((environment) => {
      const own = byEnvironment.get(environment.id) ?? [];
      const recent = own.filter(({ hour }) => hour >= firstHour(now));
      const lastReadAt = lastReads.get(environment.id);
      return {
        environment,
        ...defined({ lastReadAt }),
        hours: sums(recent, HOUR_MS),
        days: sums(own, DAY_MS),
      };
    });
    return { ...defined({ since: usageSince }), environments };
  });
}

/** The first of the last 24 hours. */
function firstHour(now: number): number {
  return startOf(HOUR_MS, now) - 23 * HOUR_MS;
}

/** Adds up hours, in order, within times of one length. */
function sums(
  rows: readonly { readonly hour: number; readonly outcome: UsageOutcome; readonly reads: number }[],
  lengthMs: number,
): ReadsFrom[] {
  const added = new Map<number, ReadsFrom>();
  for (const { hour, outcome, reads } of rows) {
    const at = startOf(lengthMs, hour);
    const sum = added.get(at) ?? { at, on: 0, off: 0 };
    added.set(at, sum);
    sum[outcome] += reads;
  }
  return [...added.values()];
}

function startOf(lengthMs: number, at: number): number {
  return Math.floor(at / lengthMs) * lengthMs;
}
