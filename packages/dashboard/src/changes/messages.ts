const flags = (count: number) => (count === 1 ? '1 flag' : `${count} flags`);

/** The texts of changing a flag's state, copying states and resolving conflicts. */
export const messages = {
  cancel: 'Cancel',
  noteLabel: 'Note',
  noteHint: 'Optional. The reason for this change, shown in the history.',
  more: (count: number) => `and ${count} more`,
  showMore: (count: number) => `Show ${count} more`,
  removed: 'removed',
  notSet: 'Not set',
  flags,

  // Permission
  viewerCannotChange: "You're a viewer, so you can't change anything.",
  protectedFromYou: (environment: string) =>
    `${environment} is protected, and you don't have permission to change it.`,

  // The question before a change of a protected environment
  guardTitle: 'Change a protected environment',
  change: (what: string) => `Change ${what}?`,
  schedule: (what: string, time: string) => `Schedule ${what} for ${time}?`,
  changeIn: (environment: string) => `Change ${environment}`,
  scheduleIn: (environment: string) => `Schedule for ${environment}`,
  isProtected: 'is protected.',
  noClients: 'No client is connected.',
  clients: (count: number) =>
    count === 1
      ? '1 connected client sees it immediately.'
      : `${count} connected clients see it immediately.`,
  nothingToDo: "This wouldn't change anything right now.",
  nothingToDoFor: (count: number, of: number) =>
    `This wouldn't change anything right now for ${count} of the ${of} flags.`,
  pauseGuard: "Don't ask again for 15 minutes",
  guardPaused: (environment: string) =>
    `You paused the confirmation for ${environment}. Click to be asked again.`,
  guardLeft: (minutes: number) => `not asking, ${minutes} min left · Resume`,
  guardResumed: (environment: string) => `You'll be asked again before changes to ${environment}`,

  // Writing a state
  saved: (title: string) => `Saved: ${title}`,
  undo: 'Undo',
  undoneShort: 'Undone',
  undone: (seq: number) => `Change ${seq} undone`,
  undoFailed: (seq: number) => `Change ${seq} could not be undone`,
  stateIs: (key: string, state: string, environment: string) => `${key} is ${state} in ${environment}`,
  withNewValue: (state: string) => `${state}, with a new value`,
  stateNotChanged: (key: string, environment: string) => `${key} in ${environment} was not changed`,

  // The answer to a change was lost
  checking: 'Unknown: checking whether it was saved…',
  answerLost: 'Saved. The answer was lost.',
  outcomeUnknown: 'Unknown whether it was saved',
  lookFirst: 'Look at the history before you try again.',

  anyway: 'Do it anyway',
  pausesPlan: (key: string) => `This pauses the rollout plan of ${key}.`,

  // Conflict
  conflictTitle: 'There is a newer version',
  conflictAfter: 'was changed after you opened it. Your change was not saved.',
  differences: 'Differences',
  currentVersion: 'In effect now',
  ownVersion: 'Yours',
  keepEditing: 'Keep editing',
  discardMine: 'Discard mine',
  overwriteWithMine: 'Overwrite with mine',

  // Copying
  copyTo: (environment: string) => `Copy to ${environment}`,
  copyCountTo: (count: number, environment: string) =>
    count === 0 ? `Copy to ${environment}` : `Copy ${flags(count)} to ${environment}`,
  copying: 'Copying…',
  copied: (count: number, from: string, to: string) => `${flags(count)} copied from ${from} to ${to}`,
  copyConflict: (from: string, to: string) =>
    `${from} or ${to} changed in the meantime. Nothing was copied. This is the updated preview.`,
  nothingToCopy: (to: string) => `Nothing to copy: ${to} already has these states.`,
  whatChanges: 'What changes',

  revert: {
    action: 'Revert',
    title: (seq: number) => `Revert change ${seq}?`,
    pausesPlan: (flag: string, environment: string) =>
      `This pauses the rollout plan of ${flag} in ${environment}. You can resume it afterwards.`,
    stopsPlan: (flag: string, environment: string) =>
      `This stops the rollout plan of ${flag} in ${environment} for good.`,
    hint: 'This restores the earlier state as a new change, which can be reverted too.',
    changedAgain: (seq: number) =>
      `Some of this was changed again after change ${seq}. Reverting overwrites those later changes.`,
    nothingToRevert: 'Nothing to revert: everything is as it was before.',
    tickRevertAnyway: 'Tick “Revert anyway” to overwrite the later changes.',
    loadingPreview: 'Loading the preview…',
    noPreview: "This change can't be reverted without a preview.",
    anyway: 'Revert anyway and overwrite the later changes',
    whatIsRestored: 'What is restored',
    in: 'in',
    done: (seq: number) => `Change ${seq} reverted`,
    failed: (seq: number) => `Change ${seq} was not reverted`,
  },
} as const;
