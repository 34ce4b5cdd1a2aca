import { LOCALE } from '../../components/time-ago.tsx';

/** The texts of the flag list and its dialogs. */
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
    toggle: 'Filters',
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
    density: { comfortable: 'Comfortable rows', compact: 'Compact rows' },
  },

  list: {
    label: (project: string) => `Flags of ${project}`,
    flag: 'Flag',
    changed: 'Changed',
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

  bulk: {
    label: 'Selected flags',
    selected: (count: number, hidden: number) =>
      `${count} selected${hidden > 0 ? `, ${hidden} not shown` : ''}`,
    deselectHidden: 'Deselect hidden',
    turnOn: 'Turn on in',
    turnOff: 'Turn off in',
    copy: 'Copy to…',
    describe: 'Tags and owner',
    archive: 'Archive',
    clear: 'Clear',
    already: (enabled: boolean, environment: string) =>
      `All selected flags are already ${onOff(enabled)} in ${environment}`,
    done: (count: number, enabled: boolean, environment: string) =>
      `${count} ${count === 1 ? 'flag is' : 'flags are'} ${onOff(enabled)} in ${environment}`,
    saved: (what: string) => `Saved: ${what}`,
    failed: 'No flags were changed',
    undo: 'Undo',
  },

  create: {
    valueKind: 'Kind of value',
    key: 'Key',
    keyHint: "The name your code uses. It can't be changed later.",
    keyMissing: 'Enter a key.',
    keyRule: 'Use letters, digits, ".", "_" and "-". Start with a letter or digit.',
    keyTaken: 'A flag with this key already exists.',
    description: 'Description',
    descriptionHint: 'What it does, and when it can be removed.',
    tags: 'Tags',
    tagsHint: 'Enter adds a tag.',
    owner: 'Owner',
    ownerHint: 'Person or team.',
    initialState: 'Initial state',
    initialStateIn: (environment: string) => `Initial state in ${environment}`,
    notAllowed: "You can't change this",
    submit: 'Create flag',
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

  describe: {
    title: (count: number) => `Tags and owner of ${count === 1 ? '1 flag' : `${count} flags`}`,
    add: 'Add tags',
    addHint: 'Enter adds a tag.',
    remove: 'Remove tags',
    owner: 'New owner',
    ownerHint: 'Leave empty to keep the owners.',
    nothing: 'Add or remove a tag, or enter an owner.',
    submit: 'Change flags',
    done: (count: number) => `${count === 1 ? '1 flag' : `${count} flags`} updated`,
    failed: (count: number, of: number) => `${count} of ${of} flags not updated`,
  },
} as const;

function number(count: number): string {
  return count.toLocaleString(LOCALE);
}

function onOff(enabled: boolean): string {
  return enabled ? 'on' : 'off';
}
