import type { ReactNode } from 'react';

type Link = (text: string) => ReactNode;

/** The texts of a flag's page and its dialogs. */
export const messages = {
  page: {
    flags: 'Flags',
    archived: 'archived',
    copyKey: (key: string) => `Copy key ${key}`,
    about: 'About this flag',
    tabs: (key: string) => `Parts of ${key}`,
    overview: 'Overview',
    history: 'History',
    code: 'Code',
    missingTitle: 'Flag does not exist',
    missing: (project: string) =>
      `Project ${project} has no flag with this key. It may have been deleted, or the address may be mistyped.`,
    search: 'Search the flags',
  },

  details: {
    description: 'Description',
    noDescription: 'Describe what this flag does',
    showAll: 'Show all',
    showLess: 'Show less',
    tags: 'Tags',
    tagsHint: 'Enter adds a tag',
    noTags: 'none',
    owner: 'Owner',
    noOwner: 'none',
    kind: 'Kind of value',
    lifetime: 'Lifetime',
    temporary: 'Temporary',
    permanent: 'Permanent',
    lastChange: 'Last change',
    by: 'by',
    edit: (name: string) => `Edit: ${name}`,
    save: 'Save',
    saving: 'Saving…',
    saved: 'Saved',
    cancel: 'Cancel',
    unsaved: (name: string) => `Your changes are not saved and would be lost: ${name.toLowerCase()}.`,
  },

  actions: {
    menu: 'More actions',
    archive: 'Archive…',
    restore: 'Restore',
    delete: 'Delete for good…',
    archiveFirst: 'Archive it first',
    needsAdmin: 'Requires an administrator',
    archivedTitle: 'Archived flag',
    archivedOn: 'Archived',
    archivedEffect:
      'Clients no longer get this flag: code falls back to its defaults. Its states are kept and can be restored.',
    restoring: (key: string) => ({
      title: `Restore ${key}?`,
      body: 'Restores its state in every environment where it was set. Clients get it again immediately.',
      action: 'Restore',
      done: `${key} restored`,
      failed: `${key} was not restored`,
    }),
    deleting: (key: string) => ({
      title: `Delete ${key} for good?`,
      body: 'Deletes the flag and its states. Its history is kept.',
      action: 'Delete',
      done: `${key} deleted`,
      failed: `${key} was not deleted`,
    }),
  },

  namedValues: {
    fact: 'Named values',
    edit: 'Edit named values',
    title: (key: string) => `Named values of ${key}`,
    explanation:
      'People choose from these when they set the value in an environment. Applications get the value, not its name.',
    choose: (environment: string) => `Named value in ${environment}`,
    custom: 'Custom value',
    noValue: 'No value',
    name: 'Name',
    text: 'Text',
    json: 'JSON value',
    description: 'Description (optional)',
    newValue: 'new value',
    nameOf: (name: string) => `Name of ${name}`,
    valueOf: (name: string) => `Value of ${name}`,
    descriptionOf: (name: string) => `Description of ${name}`,
    remove: (name: string) => `Remove ${name}`,
    add: 'Add value',
    save: 'Save',
    saved: 'Named values saved',
    changedMeanwhile:
      'The named values of this flag have changed since you opened this dialog. Nothing was saved. Copy what you need, close the dialog and open it again.',
    noName: 'Enter a name without spaces at the start or end.',
    sameName: 'Another value has this name.',
    sameValue: (name: string) => `${name} has this value already.`,
    noJson: 'Enter a value.',
    otherKind: (kind: string) => `The flag declares values of the kind ${kind}.`,
    keeps: (environment: string, name: string) =>
      `${environment} keeps serving the present value of “${name}”, until you set another one there.`,
  },

  matrix: {
    title: 'Environments',
    heads: ['Environment', 'State', 'Rollout', 'Value', 'Last change'],
    find: 'Find an environment',
    noMatch: 'No environments match',
    showAll: (count: number) => `Show all ${count} environments`,
    on: 'On',
    off: 'Off',
    notSet: 'Not set',
    everyone: 'Everyone',
    whenOn: (share: string) => `${share} when on`,
    by: 'by',
    unsaved: 'Unsaved',
    archived: 'The flag is archived.',
  },

  card: {
    missing: (environment: string) =>
      `Not set in ${environment}. Clients there do not get this flag, and code falls back to its defaults.`,
    add: (environment: string) => `Add to ${environment} (off)`,
    unsaved: (key: string, environment: string) =>
      `Your changes to ${key} in ${environment} are not saved and would be lost.`,
    noChanges: 'No changes yet.',
    changed: 'Changed',
    removed: 'Removed',
    by: 'by',
    menu: (environment: string) => `More for ${environment}`,
    schedule: 'Schedule a change…',
    copyFrom: 'Copy from another environment…',
    copyTitle: (environment: string) => `Copy to ${environment}`,
    remove: (environment: string) => `Remove from ${environment}`,
  },

  draft: {
    diff: 'Your changes',
    reason: (environment: string) => `Reason for the change in ${environment}`,
    reasonHint: 'Reason (optional)',
    reasonNeeded: 'Reason (required)',
    bar: (environment: string) => `Unsaved change in ${environment}`,
    unsaved: 'Unsaved in',
    discard: 'Discard',
    schedule: 'Schedule…',
    save: (environment: string) => `Save in ${environment}`,
    saving: 'Saving…',
    archived:
      'The flag was archived while you were editing. Your draft is kept here. You can save it once the flag is restored.',
    self: 'You, in another tab,',
    someone: 'Someone',
    overtaken: 'changed this while you were editing. In effect now:',
    showTheirs: 'Show theirs',
    hideTheirs: 'Hide theirs',
    discardMine: 'Discard mine',
    keepEditing: 'Keep editing',
    theirChange: 'What they changed',
    inEffect: 'In effect now',
  },

  value: {
    title: 'Value',
    label: (environment: string) => `Value in ${environment}`,
    noValue: 'no value',
    notJson: 'not JSON',
    none: 'This flag is only on or off.',
    notNumber: 'Enter a number, such as 0.5, 1e3 or -2.',
    otherKind: (declared: string) => `This value is not of the declared kind, ${declared}.`,
    problem: (line: number, column: number, message: string) => `Line ${line}, column ${column}: ${message}.`,
    typeChange: (from: string, to: string | undefined) =>
      `${
        to === undefined ? 'The value is removed.' : `Type changes from ${from} to ${to}.`
      } Code expecting ${/^[aeiou]/.test(from) ? 'an' : 'a'} ${from} will fall back to its default.`,
  },

  /** The problems of a JSON text. Each follows "Line 2, column 7:". */
  json: {
    tooLarge: (bytes: number, most: number) => `The value is ${bytes} bytes; the limit is ${most} (64 KiB)`,
    tooDeep: (most: number) => `Nested deeper than ${most} levels`,
    trailingText: 'Unexpected text after the value',
    badNumber: 'Invalid number. Write 0.5, 1e3 or -2',
    singleQuotes: 'Use double quotes',
    missingValue: 'Missing value',
    unquoted: (word: string) => `Put "${word}" in double quotes`,
    missingComma: (end: string) => `Missing comma or ${end}`,
    trailingComma: 'Trailing comma',
    missingName: 'Missing name in double quotes',
    missingColon: 'Missing colon',
    openString: 'Unterminated string',
    controlCharacter: 'Write control characters as \\u0000 in strings',
    backslash: 'Write a backslash in a string as \\\\',
  },

  rollout: {
    title: 'Rollout',
    everyone: 'Everyone',
    percentage: 'Percentage',
    in: (environment: string) => `in ${environment}`,
    slider: (environment: string) => `Rollout in ${environment}`,
    input: (environment: string) => `Rollout in ${environment}, in percent`,
    mark: (percent: number, environment: string) => `${percent} % in ${environment}`,
    everyoneHint: 'When on, everyone gets it.',
    percentageHint: 'Increasing adds people. Decreasing removes the most recently added.',
    invalid: 'Enter a number from 0 to 100 with at most three decimals.',
  },

  evaluate: {
    title: 'Who gets it?',
    label: 'Evaluate for this targeting key',
    all: (count: number) => `Show all ${count} environments`,
    hint: "The ID that your code passes, such as a user's. Each key has a fixed place between 0 and 100, and gets the flag when the rollout is above it.",
    place: ['Place', 'of 100 for this flag, in every environment.'],
    on: 'On',
    off: 'Off',
    value: 'Value',
    missing: 'Flag does not exist',
    disabled: 'Off for everyone',
    everyone: 'On for everyone',
    split: (place: string, isOn: boolean, percent: number) =>
      `${place} is ${isOn ? 'below' : 'not below'} ${percent}`,
  },

  snippets: {
    title: 'Read this flag in code',
    environment: 'Environment',
    language: 'Language',
    packages: 'Packages: ',
    installHint: (toClient: Link) => <>(in no registry yet: see {toClient('how to install it')})</>,
    label: (language: string, key: string, environment: string) => `${language}: ${key} in ${environment}`,
    serverHint: (toKeys: Link) => (
      <>
        <code>HALYARD_KEY</code> holds a {toKeys('project key')}.
      </>
    ),
    pageHint: (toGuide: Link) => <>Your server needs {toGuide('the handler')}.</>,
    more: (toLanguages: Link) => <>See {toLanguages('Use Halyard from any language')}.</>,
  },

  schedules: {
    title: 'Scheduled',
    all: 'All schedules',
    none: 'No scheduled changes.',
    dialog: (key: string) => `Schedule a change of ${key}`,
    in: 'in',
    when: (zone: string) => `When (${zone})`,
    utc: (time: string) => `= ${time}`,
    noTime: 'Pick a date and time',
    past: 'Pick a time in the future',
    switch: 'Switch',
    on: (isOn: boolean) => `Turn on${isOn ? ' (already on)' : ''}`,
    off: (isOn: boolean) => `Turn off${isOn ? '' : ' (already off)'}`,
    keep: 'Leave unchanged',
    rolloutIn: (environment: string) => `${environment}, scheduled`,
    nothing: 'Nothing would change. Set the switch or the rollout.',
    preview: (key: string, change: string) =>
      `At that time ${key} ${change}. Other changes made before then are kept.`,
    submit: 'Schedule',
    done: (key: string) => `${key} scheduled`,
  },

  history: {
    title: 'History',
    empty: 'No changes yet.',
    older: 'Load older',
    loading: 'Loading…',
  },
} as const;
