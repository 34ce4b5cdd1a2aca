import type { ReactNode } from 'react';

/** The texts of the screen "Compare". */
export const messages = {
  title: 'Compare',
  intro: 'Compare two environments and copy selected flags from one to the other.',
  tooFewTitle: 'Comparing needs two environments',
  tooFew: (link: (text: string) => ReactNode) => <>Create another on the {link('environments screen')}.</>,
  from: 'From',
  to: 'To',
  swap: 'Swap environments',
  sameTitle: 'Pick two different environments',
  same: (name: string) => `Both sides are ${name}.`,

  equalTitle: (from: string, to: string) => `${from} and ${to} match`,
  equal: 'Every flag has the same state in both. Differences will appear here.',

  filterByKey: 'Filter by key',
  differsIn: 'Differs in',
  anyDifference: 'Any difference',
  count: (shown: number, all: number) =>
    `${shown === all ? '' : `${shown} of `}${all} ${all === 1 ? 'flag differs' : 'flags differ'}`,
  noMatches: 'No differences match these filters.',
  clearFilters: 'Clear filters',

  flag: 'Flag',
  differences: 'Differences',
  whatDiffers: (key: string) => `What differs in ${key}`,
  copyChanges: (to: string) => `A copy to ${to} changes:`,
  more: (left: number) => `${left} more`,
  absent: '–',
  select: (key: string) => `Select ${key}`,
  selectAll: (count: number, environment: string) =>
    count === 1
      ? `Select the flag that ${environment} has`
      : `Select all ${count} flags that ${environment} has`,
  missing: (from: string, to: string) => `Not in ${from}: copying removes it from ${to}`,
  showMore: (left: number) => `Show more (${left} left)`,

  selected: (count: number) => `${count} selected`,
  clear: 'Clear',
  copyTo: (environment: string) => `Copy to ${environment}…`,
} as const;
