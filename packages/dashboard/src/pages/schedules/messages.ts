import type { ItemStatus } from './timeline-items.ts';

/** The texts of the timeline on the screen "Schedules". */
export const messages = {
  share: (percent: number) => `${percent} %`,
  range: (first: string, last: string) => `${first} – ${last}`,
  labels: { on: 'on', off: 'off', value: 'value', removed: 'removed' },
  timeline: 'Next seven days',
  now: 'Now',
  others: (count: number) => `+${count}`,
  noTimes: 'Nothing in the next seven days.',
  later: 'After that',
  past: 'Past changes',
  inEnvironment: 'in',
  statuses: { planned: '', overdue: 'overdue', paused: 'paused', waiting: 'needs approval' } satisfies Record<
    ItemStatus,
    string
  >,
  overdueWhy: 'Its time has passed. It runs as soon as a node can write.',
  stepAt: (label: string, time: string) => (label === '' ? time : `${label}, ${time}`),
  beyond: (count: number) => `+${count} later`,
  /** What a screen reader says of a line after its flag and environment. */
  spoken: (parts: readonly string[]) => ` ${parts.filter((part) => part !== '').join('; ')} `,
  plannedBy: 'Planned by',
  by: (name: string) => `planned by ${name}`,
  pausedWhy: 'Its steps have no times until it is resumed.',
  waitingWhy: 'It is scheduled once other people have approved it.',
  openProposal: 'Open the proposal',
} as const;
