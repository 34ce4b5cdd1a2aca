import { defined, planSteps, reachOf } from '@halyard/protocol';
import type {
  FlagState,
  ProposalRecord,
  RolloutPlanRecord,
  ScheduledStep,
  ScheduleRecord,
} from '../../api/types.ts';
import { membersOf } from '../../components/audit/action-text.ts';
import { messages } from './messages.ts';

/** How far the timeline reaches, in milliseconds. */
export const SPAN_MS = 7 * 86_400_000;

/** How late a change may be before it counts as overdue: nodes look for what is due every few seconds. */
const LATE_MS = 60_000;

/** Something that will happen at a time. */
export interface Moment {
  /** Epoch milliseconds. */
  readonly at: number;
  /** In a few letters, such as "25 %". */
  readonly label: string;
}

/** Whether an item of the timeline runs by itself; `waiting` for the approval of other people. */
export type ItemStatus = 'planned' | 'overdue' | 'paused' | 'waiting';

/** What an item was made of; its card shows that. */
type Source =
  | { readonly schedule: ScheduleRecord }
  | { readonly plan: RolloutPlanRecord; readonly state: FlagState | undefined }
  | { readonly proposal: ProposalRecord };

/** One line of the timeline. */
export interface TimelineItem {
  readonly id: string;
  /** The flags that it changes. */
  readonly keys: readonly string[];
  readonly environment: string | undefined;
  readonly status: ItemStatus;
  /** In order; none where no time is known. */
  readonly moments: readonly Moment[];
  /** Who planned it, as in the audit log, and when. */
  readonly by: string;
  readonly createdAt: string;
  readonly note?: string;
  readonly source: Source;
}

/** What lies ahead, and the state of a flag in an environment. */
export interface Ahead {
  readonly schedules: readonly ScheduleRecord[];
  readonly plans: readonly RolloutPlanRecord[];
  readonly proposals: readonly ProposalRecord[];
  readonly stateOf: (key: string, environment: string) => FlagState | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The lines of the timeline: the next to happen first, then those without a time. */
export function timelineItems({ schedules, plans, proposals, stateOf, now }: Ahead): readonly TimelineItem[] {
  const items = [
    ...schedules.filter(({ status }) => status === 'pending').map(ofSchedule),
    ...plans.map((plan) => ofPlan(plan, stateOf(plan.flag, plan.environment ?? ''))),
    ...proposals.flatMap(ofProposal),
  ];
  const timed = items.map((item) => {
    const [first] = item.moments;
    const isLate = item.status === 'planned' && first !== undefined && first.at < now - LATE_MS;
    return isLate ? { ...item, status: 'overdue' as const } : item;
  });
  return timed.sort((one, other) => firstTime(one) - firstTime(other));
}

/** Whether an item has nothing to show on the axis: what comes first is farther ahead. */
export function isLater(item: TimelineItem, now: number): boolean {
  const [first] = item.moments;
  return first !== undefined && first.at > now + SPAN_MS;
}

function firstTime({ moments: [first] }: TimelineItem): number {
  return first?.at ?? Number.MAX_SAFE_INTEGER;
}

function ofSchedule(schedule: ScheduleRecord): TimelineItem {
  const { id, changes, environment, dueAt, createdBy, createdAt, note } = schedule;
  return {
    id,
    keys: changes.map(({ key }) => key),
    environment,
    status: 'planned',
    moments: [{ at: Date.parse(dueAt), label: labelOf(changes) }],
    by: createdBy,
    createdAt,
    ...defined({ note }),
    source: { schedule },
  };
}

function ofPlan(plan: RolloutPlanRecord, state: FlagState | undefined): TimelineItem {
  const { id, flag, environment, status, steps, createdBy, createdAt, note } = plan;
  const moments = planSteps(steps, reachOf(state)).flatMap(({ rolloutPct, status: step, expectedAt }) =>
    expectedAt === undefined || (step !== 'next' && step !== 'waiting')
      ? []
      : [{ at: Date.parse(expectedAt), label: messages.share(rolloutPct) }],
  );
  return {
    id,
    keys: [flag],
    environment,
    status: status === 'paused' ? 'paused' : 'planned',
    moments: status === 'paused' ? [] : moments,
    by: createdBy,
    createdAt,
    ...defined({ note }),
    source: { plan, state },
  };
}

/** A proposal to schedule a change or to start a plan; other proposals are made when they are approved. */
function ofProposal(proposal: ProposalRecord): readonly TimelineItem[] {
  const { id, effects, environments, author, createdAt, note } = proposal;
  const planned = effects.find(({ action }) => action === 'schedule.created' || action === 'rollout.started');
  if (planned === undefined) return [];

  const { dueAt, changes } = membersOf(planned.after);
  // As the audit log has them.
  const steps = (Array.isArray(changes) ? changes : []) as readonly ScheduledStep[];
  return [
    {
      id,
      keys: planned.action === 'rollout.started' ? [planned.target] : steps.map(({ key }) => key),
      environment: planned.environment ?? environments[0],
      status: 'waiting',
      moments: typeof dueAt === 'string' ? [{ at: Date.parse(dueAt), label: labelOf(steps) }] : [],
      by: author,
      createdAt,
      ...defined({ note }),
      source: { proposal },
    },
  ];
}

function labelOf(changes: readonly ScheduledStep[]): string {
  const [only, ...others] = changes;
  if (only === undefined || others.length > 0) return '';
  const { labels } = messages;
  if ('state' in only) {
    if (only.state === null) return labels.removed;
    return only.state.enabled === true ? onLabel(only.state.rolloutPct) : labels.off;
  }
  const { enabled, rolloutPct } = only.patch;
  if (enabled === false) return labels.off;
  if (enabled === true || rolloutPct !== undefined) return onLabel(rolloutPct);
  return labels.value;
}

function onLabel(rolloutPct: number | undefined): string {
  return rolloutPct === undefined ? messages.labels.on : messages.share(rolloutPct);
}
