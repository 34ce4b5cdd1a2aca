import { type AgeLimits, checkAges } from './age-rules.ts';
import { checkAudit } from './audit-rules.ts';
import { type AuthorityLimits, checkGrants, checkRefusals } from './authority-rules.ts';
import { checkClients } from './client-rules.ts';
import { checkEventOrder, checkEventReads } from './event-rules.ts';
import type { History, Write } from './history.ts';
import { checkNodesNeverGoBack, checkReads } from './node-rules.ts';
import { checkConditionalWrites, checkCrashes, checkOutcome, checkPointers } from './outcome-rules.ts';
import { checkRestarts, checkSilences } from './restart-rules.ts';
import { checkFailStop, checkLiveness, checkStreamOrder } from './stream-rules.ts';
import { Timelines } from './timelines.ts';
import type { Violation } from './violation.ts';

/** The bounds that time-based properties are held to. All milliseconds. */
export interface CheckLimits {
  /** How long an open stream may lag behind an acknowledged write before it must be closed. */
  readonly liveWithinMs: number;
  /** How long a client library may lack an acknowledged write, whatever happens to the nodes. */
  readonly clientWithinMs: number;
  /** How long a node waits before it acknowledges a committed write that it could not apply itself. */
  readonly ownWriteMs: number;
  /** How much later than a node's own statement of loss a frame may still be read here: our delay, not its. */
  readonly lossSlackMs: number;
  /** How old an answer may be. */
  readonly age: AgeLimits;
  /** How long a node that is restarted waits for its source before it starts with its last known flags. */
  readonly restartPatienceMs: number;
  /** How long a node may answer nothing while its workers are killed. */
  readonly silentMs: number;
  /** For keys whose end is a row of the log: a change asked for later is committed later, so no time is needed. */
  readonly revoked: AuthorityLimits;
  /** For keys that end by the clock. */
  readonly expired: AuthorityLimits;
}

/** Bounds that a healthy fleet keeps on a busy machine. */
export const DEFAULT_LIMITS: CheckLimits = {
  liveWithinMs: 10_000,
  // 45 s until a frozen connection counts as dead, 30 s of backoff, and 15 s.
  clientWithinMs: 90_000,
  ownWriteMs: 2_000,
  lossSlackMs: 1_000,
  age: { proofMs: 3_000, slackMs: 500 },
  restartPatienceMs: 3_000,
  silentMs: 5_000,
  revoked: { frameMs: 0, requestMs: 5_000, closeMs: 15_000 },
  expired: { frameMs: 1_500, requestMs: 1_500, closeMs: 15_000 },
};

/**
 * Judges a recorded history against the properties a fleet promises (P1 to P3, P4 bounded, P5 to P7, P9 to P15).
 * Returns every violation in order of time; only an empty list is good.
 */
export function checkHistory(history: History, limits: CheckLimits = DEFAULT_LIMITS): readonly Violation[] {
  const violations: Violation[] = [];
  const report = (violation: Violation): void => {
    violations.push(violation);
  };

  const timelines = new Timelines(history, report);
  const acknowledged = acknowledgedByEnvironment(history);

  for (const stream of history.streams) checkStreamOrder(stream, timelines, report);
  for (const stream of history.eventStreams) checkEventOrder(stream, report);
  for (const stream of [...history.streams, ...history.eventStreams]) {
    checkFailStop(stream, history, limits.lossSlackMs, report);
    checkLiveness(stream, acknowledged.get(stream.environment) ?? [], limits.liveWithinMs, history, report);
  }
  checkClients(history, timelines, acknowledged, limits.clientWithinMs, report);

  checkNodesNeverGoBack(history, limits.ownWriteMs, report);
  checkReads(history, timelines, report);
  checkAges(history, acknowledged, limits.age, report);
  checkRestarts(history, limits.restartPatienceMs, report);
  checkSilences(history, limits.silentMs, report);
  checkEventReads(history, report);
  for (const cause of ['revoked', 'expired'] as const) {
    const endedKeys = history.endedKeys.filter((key) => key.cause === cause);
    checkGrants({ ...history, endedKeys }, timelines, limits[cause], report);
  }

  checkRefusals(history, report);
  checkConditionalWrites(history, report);
  checkCrashes(history, report);
  checkPointers(history, report);
  checkOutcome(history, timelines, report);
  checkAudit(history, timelines, report);

  return violations.sort((a, b) => a.at - b.at);
}

function acknowledgedByEnvironment(history: History): ReadonlyMap<string, readonly Write[]> {
  const byEnvironment = new Map<string, Write[]>();
  for (const write of history.writes) {
    if (write.outcome !== 'acknowledged') continue;
    const list = byEnvironment.get(write.environment) ?? [];
    list.push(write);
    byEnvironment.set(write.environment, list);
  }
  for (const list of byEnvironment.values()) list.sort((a, b) => a.finishedAt - b.finishedAt);
  return byEnvironment;
}
