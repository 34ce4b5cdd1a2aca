/** The texts of the screens "History" and "Audit log". */
export const messages = {
  title: 'History',
  auditTitle: 'Audit log',
  auditIntro: 'Every change in all projects, and to people and access tokens.',
  nothingMatches: 'No changes match these filters',
  nothingYet: 'No changes yet',
  removeFilter: 'Remove a filter to see more.',
  emptyHint: 'Every change is recorded here permanently: who made it, when, what it was before, and why.',
  loadOlder: 'Load older changes',
  loading: 'Loading…',
  today: (day: string) => `Today, ${day}`,
  yesterday: (day: string) => `Yesterday, ${day}`,

  // One change
  changedFlags: (count: number) => `changed ${count} flags`,
  madeChanges: (count: number) => `made ${count} changes`,
  changedFlag: 'changed the flag',
  madeChangesTo: (count: number) => `made ${count} changes to`,
  burst: (changes: number, flags: number) => `made ${changes} changes to ${flags} flags:`,
  more: (count: number) => `and ${count} more`,
  inEnvironments: (names: readonly string[]) =>
    names.length > 3 ? `in ${names.length} environments` : `in ${names.join(', ')}`,
  copyLink: (seq: number) => `Copy the link to change ${seq}`,
  showFewer: 'Show fewer',
  showAll: (count: number) => `Show all ${count}`,
  project: (name: string) => `Project ${name}`,
  change: (seq: number) => `Change ${seq}`,

  // A single change, by its address
  oneChange: (seq: string) => `Change ${seq}`,
  allChanges: 'All changes',
  sameDay: 'All changes of that day',
  noSuchChange: (seq: string) => `Change ${seq} does not exist`,
  noSuchChangeWhy: 'It may be about people or tokens, which only administrators can see.',

  // Filters
  search: 'Flag, person or note',
  person: 'Person',
  anyone: 'Anyone',
  environment: 'Environment',
  anyEnvironment: 'Any environment',
  action: 'Action',
  anyAction: 'Any action',
  days: [
    { name: 'from', label: 'From date', text: 'From' },
    { name: 'until', label: 'To date', text: 'to' },
  ],
  export: 'Export',
  exportDetail: 'the listed changes as JSON Lines',
  /** All actions of a noun, or one action. */
  actions: [
    ['flag', 'All flag changes'],
    ['flag.changed', 'Flag states'],
    ['flag.created', 'Flags created'],
    ['flag.updated', 'Flags edited'],
    ['flag.archived', 'Flags archived'],
    ['flag.deleted', 'Flags deleted'],
    ['schedule', 'Schedules'],
    ['key', 'Project keys'],
    ['environment', 'Environments'],
    ['project', 'Projects'],
    ['operator', 'People'],
    ['invitation', 'Invitations'],
    ['token', 'Access tokens'],
    ['relay', 'Relay tokens'],
    ['session', 'Sign-ins'],
  ],
} as const;
