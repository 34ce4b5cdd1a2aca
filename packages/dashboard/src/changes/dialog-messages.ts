const flags = (count: number) => (count === 1 ? '1 flag' : `${count} flags`);

/** The texts of the questions about a change, which are loaded when they are asked: consent, conflict, copy and revert. */
export const messages = {
  cancel: 'Cancel',
  proposeIt: 'Propose…',
  noteLabel: 'Reason',
  noteOptional: 'Optional',
  noteMissing: 'Say why: the history keeps it.',
  noteGiven: 'Reason:',
  reasonNeeded: 'requires a reason for every change. The history keeps it.',
  reasonByNow: 'This change needs a reason. Nothing has been changed yet.',
  reasonSubmit: 'Continue',
  more: (count: number) => `and ${count} more`,
  notSet: 'Not set',
  flags,

  // The question before a change of a protected environment
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

  // The question where other people must approve
  propose: {
    title: (what: string, time: string | undefined) =>
      time === undefined ? `Propose: ${what}` : `Propose: ${what}, for ${time}`,
    thisChange: 'this change',
    in: (what: string, environments: readonly string[]) => `${what} in ${environments.join(', ')}`,
    needed: (count: number) =>
      `needs the approval of ${count === 1 ? 'another person' : `${count} other people`}. Nothing changes until then.`,
    neededByNow: 'This needs the approval of other people. Nothing has been changed.',
    note: 'Reason',
    noteMissing: 'Say why, for those who decide.',
    hold: 'Hold it once it is approved',
    holdHint: 'It then waits until a person applies it. Otherwise the last approval makes the change.',
    submit: 'Propose',
    emergency: 'Emergency…',
    back: 'Back to proposing',
    emergencyTitle: (environments: readonly string[]) =>
      `Change ${environments.join(', ')} without approval?`,
    emergencyEffect: (environments: readonly string[]) =>
      `This changes ${environments.join(', ')} at once. The history and the webhooks mark it as an emergency, and another person must acknowledge it.`,
    emergencyNote: 'Why can this not wait?',
    emergencyNoteHint: 'The history keeps it, and the person who acknowledges the emergency reads it.',
    emergencySubmit: 'Change it now',
    proposed: 'The change is proposed',
    nothingYet: 'Nothing has changed yet.',
    see: 'See the proposal',
  },

  anyway: 'Do it anyway',
  pausesPlan: (key: string) => `This pauses the rollout plan of ${key}.`,

  // Conflict
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
    what: (seq: number) => `revert change ${seq}`,
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
