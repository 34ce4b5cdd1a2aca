const flagStates = (flags: number | undefined) => {
  if (flags === undefined) return 'All flag states';
  return flags === 1 ? 'The state of 1 flag' : `The states of ${flags} flags`;
};

const unapprovedSchedules = (count: number) =>
  count === 1
    ? '1 scheduled change here will fail when it is due.'
    : `${count} scheduled changes here will fail when they are due.`;

const unapprovedPlans = (count: number) =>
  count === 1
    ? '1 rollout plan here will pause at its next step.'
    : `${count} rollout plans here will pause at their next step.`;

/** The texts of the screen "Environments". */
export const messages = {
  title: 'Environments',
  intro: 'Flags have a separate state per environment. The order here is used everywhere.',
  readOnly: 'Managing environments',
  create: 'New environment',
  emptyTitle: 'No environments',
  empty: 'Create one, such as production, to give flags a state that keys can read.',

  // The list
  list: 'Environments',
  columns: [
    { label: 'Environment' },
    { label: 'Protection' },
    { label: 'Flags' },
    { label: 'Open streams' },
    { label: 'Created' },
    { label: 'Actions', isSilent: true },
  ],
  protected: 'protected',
  unprotected: 'none',
  loading: '…',
  more: (name: string) => `More for ${name}`,
  moveUp: 'Move up',
  moveDown: 'Move down',
  moved: (name: string, place: number, count: number) => `${name} is now ${place} of ${count}`,
  moveFailed: (name: string) => `${name} could not be moved`,
  edit: 'Edit',
  editEnvironment: (name: string) => `Edit ${name}`,
  delete: 'Delete',

  // Creating and editing
  createAction: 'Create environment',
  created: (name: string) => `Environment ${name} created`,
  name: 'Name',
  nameHint: "Applications read the environment by this name. It can't be changed later.",
  nameMissing: 'Enter a name.',
  nameInvalid: 'Use lowercase letters, digits and “-”, starting with a letter or digit.',
  namePlaceholder: 'preview',
  startsEmpty: 'A new environment starts empty. Use Compare to copy flag states into it.',
  color: 'Color',
  protect: 'Protected',
  protectHint: 'Only people with permission can change flags here, and each change is confirmed.',
  save: 'Save',
  saved: (name: string) => `Environment ${name} updated`,
  unprotectWarning: (name: string) =>
    `Without protection, every editor can change flags in ${name} with one click and no confirmation.`,
  unprotect: (name: string) => `Remove protection from ${name}`,

  // Approvals
  approvals: 'Changes need the approval of',
  approvalChoices: ['No one else', '1 other person', '2 other people'],
  approvalsHint:
    'What would change flags here becomes a proposal, and other people who may change it decide.',
  approvalsShort: (count: number) => (count === 1 ? '1 approval' : `${count} approvals`),
  tooFew: (needed: number, able: number) =>
    `This needs ${needed} people who may change this environment. ${able === 1 ? '1 person may' : `${able} people may`}.`,
  emergencyOff: 'Every editor may turn flags off in an emergency',
  emergencyOffHint:
    'For people who may change protected environments. Off at once, with a reason, until another person acknowledges it. Uncheck it where off is not the safe side.',
  reasonRequired: 'Require a reason for every change',
  reasonRequiredHint: 'People and tokens say why they change flags here, and the history keeps it.',
  reasonsShort: 'reasons',
  unapproved: (schedules: number, plans: number) =>
    [
      ...(schedules === 0 ? [] : [unapprovedSchedules(schedules)]),
      ...(plans === 0 ? [] : [unapprovedPlans(plans)]),
      schedules + plans === 1
        ? 'It was never approved: propose it again.'
        : 'They were never approved: propose them again.',
    ].join(' '),
  loosenWarning: 'This loosens what guards the environment, so other people must approve it first.',
  loosen: 'Propose…',
  loosenWhat: (name: string) => `loosen what guards ${name}`,

  deleting: (name: string, flags: number | undefined, streams: string) => ({
    what: `delete ${name}`,
    title: `Delete ${name}?`,
    body: (
      <>
        <p>
          {flagStates(flags)} in {name} will be deleted, keys can no longer read it, and its schedules are
          canceled. {streams} This can't be undone.
        </p>
        <p className="mt-2">The flags themselves and their states in other environments are kept.</p>
      </>
    ),
    action: 'Delete environment',
    done: `Environment ${name} deleted`,
    failed: `Environment ${name} could not be deleted`,
  }),
} as const;
