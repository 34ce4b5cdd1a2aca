import type { Reason } from './candidates.ts';

const places = (count: number) => (count === 1 ? 'its environment' : `all ${count} environments`);
const days = (count: number) => (count === 1 ? '1 day' : `${count} days`);

/** The texts of the screen "Clean up". */
export const messages = {
  title: 'Clean up',
  intro:
    'Flags that have done their work. Remove the code that asks for them (“halyard refs” finds it), deploy, then archive them. Mark what is meant to stay as permanent, on its page.',
  tabs: 'Reasons',
  reasons: {
    done: 'Ready to remove',
    unread: 'Not read',
    same: 'Same everywhere',
    permanent: 'Permanent',
    archived: 'Archived long ago',
  } satisfies Record<Reason, string>,
  explained: {
    done: 'On for everyone, with one value, in every environment, and unchanged for 30 days.',
    unread: 'No program has asked for these flags for 30 days.',
    same: 'Off, not set, or with the same rollout in every environment, and unchanged for 30 days.',
    permanent: 'Meant to stay, and in none of the other lists. Take the mark off on the page of the flag.',
    archived: 'Archived for 90 days or more. Open a flag to delete it or to restore it.',
  } satisfies Record<Reason, string>,
  why: {
    done: (environments: number, count: number) =>
      `on for everyone in ${places(environments)} for ${days(count)}`,
    unread: () => 'not read for 30 days',
    same: (environments: number, count: number) => `the same in ${places(environments)} for ${days(count)}`,
    permanent: () => 'meant to stay',
    archived: () => 'archived',
  } satisfies Record<Reason, (environments: number, count: number) => string>,
  none: {
    done: 'No flag is ready to remove.',
    unread: 'Every flag has been read in the last 30 days, or is new.',
    same: 'No flag is the same everywhere for long.',
    permanent: 'No flag is marked as permanent.',
    archived: 'No flag was archived long ago.',
  } satisfies Record<Reason, string>,
  notCounted:
    'Reads of flags are not known yet: they have to be counted for 30 days. An administrator turns counting on in the settings of the project.',
  columns: {
    flag: { label: 'Flag' },
    why: { label: 'Why' },
    code: { label: 'In the code' },
    read: { label: 'Last read' },
    changed: { label: 'Last change' },
    created: { label: 'Created' },
    owner: { label: 'Owner' },
  },
  list: (reason: string) => `Flags: ${reason}`,
  select: (key: string) => `Select ${key}`,
  selectAll: (count: number) => `Select all ${count}`,
  deselectAll: 'Deselect all',
  showAll: (count: number) => `Show all ${count}`,
} as const;
