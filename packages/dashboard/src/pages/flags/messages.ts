import { LOCALE } from '../../components/time-ago.tsx';

/** The texts of the flag list. */
export const messages = {
  flags: 'Flags',
  archivedFlags: 'Archived flags',
  newFlag: 'New flag',
  /** "585", or "12 of 585" while filters hide some. */
  count: (all: number, shown: number) => (shown === all ? number(all) : `${number(shown)} of ${number(all)}`),

  created: {
    done: (key: string) => `${key} created`,
    open: 'Open flag',
    hidden: 'The current filters hide it.',
    show: 'Show it',
  },

  empty: {
    noFlags: 'No flags yet',
    whatFlagsAre:
      'A flag turns a part of your software on or off while it runs. It has a state in each environment, and every change reaches your programs within milliseconds.',
    createFirst: 'Create first flag',
    terminal: 'Or from a terminal',
    command: 'Command that creates a flag',
    noArchived: 'No archived flags',
    whatArchivedAre: 'Archived flags stay here until you restore them or delete them for good.',
    noMatch: (query: string) => (query === '' ? 'No flags match these filters' : `No flags match “${query}”`),
    clearFilters: 'Clear filters',
    create: (key: string) => `Create “${key}”`,
    noProjectTitle: 'Project does not exist',
    noProject: (name: string) => `Project “${name}” does not exist`,
    noProjectWhy: 'It may have been deleted, or the address may be wrong.',
    allProjects: 'Show all projects',
  },

  filters: {
    search: 'Search flags',
    clear: 'Clear',
    state: 'State',
    anyState: 'Any state',
    on: (environment: string) => `On in ${environment}`,
    off: (environment: string) => `Off in ${environment}`,
    rollout: (environment: string) => `With a rollout in ${environment}`,
    unset: (environment: string) => `Not set in ${environment}`,
    tags: 'Tags',
    anyTag: 'Any tag',
    owner: 'Owner',
    anyOwner: 'Any owner',
    mine: 'Me',
    favorites: 'Favorites',
    columns: 'Columns',
    hiddenColumns: (count: number) => `Columns: ${count} hidden`,
    resetColumns: 'Show all',
    pin: (environment: string) => `Pin ${environment}`,
    ownerColumn: 'Owner',
    readColumn: 'Last read',
    changedColumn: 'Last change',
    changed: 'Changed',
    changedSpans: [
      ['', 'Changed any time'],
      ['1h', 'Changed in the last hour'],
      ['24h', 'Changed in the last day'],
      ['7d', 'Changed in the last week'],
      ['stale30', 'Unchanged for 30 days'],
      ['stale90', 'Unchanged for 90 days'],
    ],
    which: 'Which flags',
    active: 'Active',
    archived: 'Archived',
    order: 'Order',
    bestMatch: 'Best match',
    orders: [
      ['', 'Key (A–Z)'],
      ['-key', 'Key (Z–A)'],
      ['changed', 'Recently changed'],
      ['-changed', 'Least recently changed'],
      ['created', 'Newest'],
    ],
    readOrders: [
      ['read', 'Recently read'],
      ['-read', 'Least recently read'],
    ],
    density: { comfortable: 'Comfortable rows', compact: 'Compact rows' },
  },

  selected: 'Selected flags',

  list: {
    label: (project: string) => `Flags of ${project}`,
    flag: 'Flag',
    read: 'Last read',
    readAt: 'Read',
    changed: 'Changed',
    archived: 'Archived',
    select: (key: string) => `Select ${key}`,
    selectAll: 'Select all listed flags',
    copyKey: (key: string) => `Copy key ${key}`,
    unread: 'not read for 30 days',
    unchanged: (days: number) => `unchanged for ${days} days`,
    favorite: (key: string) => `Favorite: ${key}`,
    tags: 'Tags',
    owner: 'Owner',
    moreEnvironments: (count: number) => `and ${count} more environments`,
    by: 'by',
    on: 'On',
    off: 'Off',
    notSet: 'Not set',
    notSetHint: (environment: string) => `Not set in ${environment}. Turn it on to add it.`,
  },

  views: {
    title: 'Saved filters',
    save: 'Save current filters…',
    remove: (name: string) => `Delete “${name}”`,
    saveTitle: 'Save filters',
    saveAction: 'Save filters',
    name: 'Name',
    nameHint: 'Only this browser keeps it.',
    nameMissing: 'Enter a name.',
    nameTaken: 'This name is taken.',
  },
} as const;

function number(count: number): string {
  return count.toLocaleString(LOCALE);
}
