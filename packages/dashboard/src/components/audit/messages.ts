/** How screens name the fields that the audit log records. */
export const fieldNames: Readonly<Record<string, string>> = {
  enabled: 'Enabled',
  value: 'Value',
  rolloutPct: 'Rollout',
  description: 'Description',
  tags: 'Tags',
  owner: 'Owner',
  archived: 'Archived',
  name: 'Name',
  color: 'Color',
  position: 'Position',
  protected: 'Protected',
  environments: 'Environments',
  lastFour: 'Last four characters',
  expiresAt: 'Expires',
  role: 'Role',
  canChangeProtected: 'Can change protected environments',
  kind: 'Kind',
  dueAt: 'Due',
  changes: 'Changes',
  note: 'Note',
  reason: 'Reason',
};

/** The texts of entries of the audit log, and of the revert dialog. */
export const messages = {
  revert: 'Revert',
  revertChange: (seq: number) => `Revert change ${seq}`,
  becomes: 'becomes',
  nothing: '(empty)',
  formattingOnly: 'Formatting only; same value.',
  showLess: 'Show less',
  showAllDifferences: (count: number) => `Show all ${count} differences`,
  showWhole: 'Show in full',

  revertTitle: (seq: number) => `Revert change ${seq}?`,
  revertHint: 'This restores the earlier state as a new change, which can be reverted too.',
  changedAgain: (seq: number) =>
    `Some of this was changed again after change ${seq}. Reverting overwrites those later changes.`,
  isProtected: 'is protected.',
  nothingToRevert: 'Nothing to revert: everything is as it was before.',
  revertAnyway: 'Revert anyway and overwrite the later changes',
  whatIsRestored: 'What is restored',
  in: 'in',
  saved: (title: string) => `Saved: ${title}`,
  reverted: (seq: number) => `Change ${seq} reverted`,
  revertFailed: (seq: number) => `Change ${seq} was not reverted`,
} as const;
