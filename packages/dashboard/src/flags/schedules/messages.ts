/** The texts of the screen "Schedules". */
export const messages = {
  title: 'Schedules',
  intro: 'Rollout plans and changes that run at a set time, even if the server restarts.',
  create: 'New schedule',
  emptyTitle: 'No scheduled changes',
  empty:
    'Turn a flag on the minute you announce it, or off after the weekend, without being at your desk. A schedule makes one change in one environment, and the history shows it like any other.',
  scheduleChange: 'Schedule a change',
  filter: 'Filter by status',
  all: 'all',
  statuses: { pending: 'pending', done: 'done', failed: 'failed', cancelled: 'canceled' },
  noneWithStatus: (status: string) => `No ${status} schedules.`,

  // One schedule
  in: 'in',
  deletedEnvironment: 'a deleted environment',
  by: 'By ',
  change: (seq: number) => ` · change ${seq}`,
  cancel: 'Cancel',
  cancelOf: (what: string) => ` the change of ${what}`,
  cancelTitle: 'Cancel this schedule?',
  cancelBody: (what: string, environment: string | undefined, time: string) =>
    `${what} in ${environment} will not change on ${time}.`,
  cancelAction: 'Cancel schedule',
  canceled: 'Schedule canceled',
  cancelFailed: 'The schedule could not be canceled',
  flags: (count: number) => `${count} flags`,

  // Steps in words
  isRemoved: 'is removed',
  becomes: (state: string) => `becomes ${state}`,
  turnsOn: 'turns on',
  turnsOff: 'turns off',
  rolloutTo: (percent: number) => `rolls out to ${percent} %`,
  newValue: (value: string) => `gets the value ${value}`,
  valueRemoved: 'has its value removed',
  toEveryone: 'rolls out to everyone',

  // A new schedule
  environment: 'Environment',
  protected: ' (protected)',
  when: (zone: string) => `When (${zone})`,
  inUtc: (time: string) => `= ${time}`,
  steps: 'Flags, all changed at once',
  addFlag: 'Add flag',
  schedule: 'Schedule',
  scheduled: (time: string) => `Scheduled for ${time}`,
  flag: (position: number) => `Flag ${position}`,
  flagPlaceholder: 'flag-key',
  flagList: 'Flags of the project',
  stepOf: (position: number) => `Change of flag ${position}`,
  stepKinds: {
    on: 'turn on',
    off: 'turn off',
    rollout: 'turn on and roll out to',
    share: 'only set rollout to',
    value: 'set the value',
    remove: 'remove from environment',
  },
  percentageOf: (position: number) => `Percentage of flag ${position}`,
  valueOf: (position: number) => `JSON value of flag ${position}`,
  valuePlaceholder: '"text", 42, true, {…}',
  removeFlag: (position: number) => `Remove flag ${position}`,

  // Problems of a new schedule
  timeMissing: 'Pick a date and time',
  timePast: 'Pick a time in the future',
  flagMissing: 'Select a flag',
  flagUnknown: 'This flag does not exist',
  flagTwice: 'This flag is already listed',
  percentageInvalid: 'Enter a number from 0 to 100 with at most three decimals',
  valueInvalid: 'Invalid JSON. Put text in double quotes',
} as const;
