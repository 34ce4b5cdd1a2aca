import { LOCALE } from '../components/time-ago.tsx';

/** The texts of the dialog that archives flags. */
export const messages = {
  title: (keys: readonly (string | undefined)[]) =>
    `Archive ${keys.length === 1 ? keys[0] : `${keys.length} flags`}?`,
  effect: (environments: readonly string[]) =>
    `Clients no longer get archived flags: code falls back to its defaults${
      environments.length > 0 ? ` in ${listOf(environments)}` : ''
    }. Archived flags keep their states and can be restored.`,
  preview: 'Flags to archive',
  affected: (count: number, of: number) => `It has ${count} of the ${of} flags.`,
  removed: 'Removed',
  more: (count: number) => `and ${count} more`,
  progressLabel: 'Progress',
  archivedSoFar: 'archived',
  proposedSoFar: 'proposed',
  progress: (done: string, count: number, of: number, failed: number) =>
    `${count} of ${of} ${done}${failed > 0 ? `, ${failed} failed` : ''}`,
  unknownFailure: 'The server could not archive it. Try again.',
  failures: 'Flags that were not archived',
  submit: 'Archive',
  propose: 'Propose…',
  what: (keys: readonly string[]) => `archive ${subject(keys)}`,
  close: 'Close',
  stop: 'Stop',
  cancel: 'Cancel',
  endedEarly: 'Archiving stopped early',
  announced: (archived: number, of: number) => `${archived} of ${of} archived`,
  done: (keys: readonly string[]) => `${subject(keys)} archived`,
  proposed: (count: number) => `Archiving of ${count} flags proposed`,
  seeProposals: 'See the proposals',
  undo: 'Undo',
  restored: (keys: readonly string[]) => `${subject(keys)} restored`,
  notRestored: (count: number, of: number) => `${count} of ${of} not restored`,
} as const;

function subject(keys: readonly string[]): string {
  return keys.length === 1 ? String(keys[0]) : `${keys.length} flags`;
}

function listOf(names: readonly string[]): string {
  return new Intl.ListFormat(LOCALE).format(names);
}
