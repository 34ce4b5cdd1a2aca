const flags = (count: number) => `${count} flags`;

/** The texts of proposals on several screens. */
export const messages = {
  mark: (count: number) => (count === 1 ? '1 proposal' : `${count} proposals`),
  markOf: (flag: string, count: number) =>
    count === 1 ? `1 proposal for ${flag} waits` : `${count} proposals for ${flag} wait`,
  waits: (count: number) => (count === 1 ? '1 waits for you' : `${count} wait for you`),
  notice: 'Open proposals for this flag',
  noticeHint: 'If the flag changes before they are applied, they become outdated.',
  emergencyNotice: 'Changed in an emergency',
  emergencyHint: 'Another person must acknowledge it.',
  proposes: 'proposes:',
  emergency: 'changed without approval:',
  in: 'in',

  // What a proposal does
  titles: {
    on: (flag: string) => `Turn on ${flag}`,
    off: (flag: string) => `Turn off ${flag}`,
    setOff: (flag: string) => `Set ${flag} to off`,
    remove: (flag: string) => `Remove the state of ${flag}`,
    change: (flag: string) => `Change ${flag}`,
    several: (count: number) => `Change ${flags(count)}`,
  },
  operations: {
    createSchedule: 'Schedule a change of',
    startRolloutPlan: 'Start a rollout plan for',
    resumeRolloutPlan: 'Resume the rollout plan of',
    advanceRolloutPlan: 'Advance the rollout plan of',
    archiveFlag: 'Archive',
    restoreFlag: 'Restore',
    createFlag: 'Create',
    deleteFlag: 'Delete',
    copyFlagStates: 'Copy',
    revertChange: 'Revert',
    importProject: 'Import',
    updateEnvironment: 'Change what guards',
    deleteEnvironment: 'Delete the environment',
    deleteProject: 'Delete the project',
  } as Readonly<Record<string, string>>,
  flags,
} as const;
