import type { History, Write } from './history.ts';
import type { Report } from './violation.ts';

/** An answer, and how old it may be. */
interface DatedAnswer {
  readonly environment: string;
  readonly node: string;
  readonly revision: number;
  readonly requestedAt: number;
  readonly at: number;
  /** The age that the answer admits, in milliseconds; 0 for one that calls itself current. */
  readonly admittedMs: number;
  readonly what: string;
}

/** How old an answer may be. */
export interface AgeLimits {
  /** A node is current while its proof is no older than this (S14.1). */
  readonly proofMs: number;
  /** How much later than its commit a writer may record an acknowledgement. It errs to the safe side, so it is small. */
  readonly slackMs: number;
}

/**
 * P11: an answer lacks no change that was acknowledged longer ago than it admits: three seconds for one that calls itself
 * current, the seconds of `X-Flags-Stale` for any other. `acknowledged` holds the writes of each environment in order of
 * their acknowledgement.
 */
export function checkAges(
  history: History,
  acknowledged: ReadonlyMap<string, readonly Write[]>,
  limits: AgeLimits,
  report: Report,
): void {
  for (const answer of datedAnswers(history)) {
    // Seconds are whole, so an age of 4 may be 4.9.
    const admittedMs = Math.max(limits.proofMs, answer.admittedMs + 1_000) + limits.slackMs;
    const before = answer.requestedAt - admittedMs;
    const missing = newestBefore(acknowledged.get(answer.environment) ?? [], before);
    if (missing?.revision === undefined || missing.revision <= answer.revision) continue;
    const lateMs = Math.round(answer.requestedAt - missing.finishedAt);
    report({
      kind: answer.admittedMs === 0 ? 'not-current' : 'age-too-small',
      at: answer.at,
      environment: answer.environment,
      subject: answer.node,
      story: `${answer.what} on ${answer.node} showed revision ${answer.revision} of ${answer.environment} ${describeAge(answer)}; revision ${missing.revision} had been acknowledged by ${missing.node} ${lateMs} ms before it was asked for.`,
    });
  }
}

function describeAge({ admittedMs }: DatedAnswer): string {
  return admittedMs === 0 ? 'as current' : `as at most ${admittedMs / 1_000} seconds old`;
}

function* datedAnswers({ reads, streams, eventStreams }: History): Generator<DatedAnswer> {
  for (const read of reads) {
    const { environment, node, revision, requestedAt, answeredAt, ageSeconds = 0 } = read;
    if (revision === undefined || Number.isNaN(ageSeconds)) continue;
    const what = `A ${read.freshness} ${read.kind}`;
    yield { environment, node, revision, requestedAt, at: answeredAt, admittedMs: ageSeconds * 1_000, what };
  }
  for (const { environment, node, revision, requestedAt, openedAt, id } of [...streams, ...eventStreams]) {
    const what = `The opening of stream ${id}`;
    yield { environment, node, revision, requestedAt, at: openedAt, admittedMs: 0, what };
  }
}

/** The last write that was acknowledged before `at`. */
function newestBefore(writes: readonly Write[], at: number): Write | undefined {
  let low = 0;
  let high = writes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((writes[middle]?.finishedAt ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return writes[low - 1];
}
