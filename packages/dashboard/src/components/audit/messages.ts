import type { DeliveryRecord } from '../../api/types.ts';

/** How screens name the fields that the audit log records. */
export const fieldNames: Readonly<Record<string, string>> = {
  enabled: 'Switch',
  value: 'Value',
  rolloutPct: 'Rollout',
  description: 'Description',
  tags: 'Tags',
  owner: 'Owner',
  permanent: 'Permanent',
  valueKind: 'Kind of value',
  namedValues: 'Named values',
  archived: 'Archived',
  name: 'Name',
  color: 'Color',
  position: 'Position',
  protected: 'Protected',
  approvals: 'Approvals',
  emergencyOff: 'Editors may turn flags off in an emergency',
  reasonRequired: 'Every change needs a reason',
  environments: 'Environments',
  lastFour: 'Last four characters',
  expiresAt: 'Expires',
  role: 'Role',
  canChangeProtected: 'Can change protected environments',
  projects: 'Projects',
  only: 'Limited to',
  kind: 'Kind',
  deliveredSeq: 'Delivered up to change',
  dueAt: 'Due',
  changes: 'Changes',
  note: 'Note',
  reason: 'Reason',
};

/** The kinds of value that a flag can be declared to have, by their names in the API. */
export const VALUE_KINDS = [
  ['none', 'On/off'],
  ['text', 'Text'],
  ['number', 'Number'],
  ['json', 'JSON'],
  ['any', 'Any kind'],
] as const;

/** What the kind of a flag's value is. */
export const VALUE_KIND_HINT = 'What code reads besides on or off. Select “Any kind” to declare none.';

/** The words of a change on one line: "turned on … rollout 25 % → 50 %". */
export const words = {
  turnedOn: 'turned on',
  turnedOff: 'turned off',
  changed: 'changed',
  /** A change of only one text of a flag. */
  editedField: {
    description: 'edited the description of',
    tags: 'changed the tags of',
    owner: 'changed the owner of',
    valueKind: 'changed the kind of value of',
    namedValues: 'changed the named values of',
  },
  markedPermanent: (isPermanent: boolean) =>
    isPermanent ? 'marked as permanent' : 'removed the permanent mark of',
  state: 'switch',
  on: 'on',
  off: 'off',
  yes: 'yes',
  no: 'no',
  rollout: 'rollout',
  everyone: 'everyone',
  value: 'value',
  tags: 'tags',
  none: 'none',
  percent: (share: number | string) => `${share} %`,
  stepOfPlan: (step: number, of: number) => `step ${step} of ${of}`,
  stepBy: (step: string, name: string) => `${step} of the plan by ${name}`,
  whenOn: (share: string) => `${share} when on`,
  planPaused: 'rollout plan paused',
  planStopped: 'rollout plan stopped',
  fields: (count: number) => `${count} fields changed`,
  replaced: 'replaced',
  removed: 'removed',
  formattingOnly: 'formatting only',
} as const;

/** The texts of entries of the audit log. */
export const messages = {
  delivery: {
    seen: ({ seen, streams }: DeliveryRecord) =>
      streams === 0
        ? 'no stream was open'
        : `seen by ${seen} of ${streams} ${streams === 1 ? 'stream' : 'streams'}`,
    seenAll: (seen: number, changes: number) =>
      seen === changes ? 'seen by every stream' : `${seen} of ${changes} seen by every stream`,
    ofSeveral: (seen: number, known: number, changes: number) =>
      `Of ${changes} changes, every open stream took ${seen}${known === changes ? '' : `, and for ${changes - known} there is no record`}.`,
    unknown:
      'No record of its delivery: no stream was open, or the record has been removed, which happens after 7 days or 10,000 changes.',
  },
  scheduled: 'Scheduled',
  removedState: 'Removed',
  revert: 'Revert',
  revertChange: (seq: number) => `Revert change ${seq}`,
  nothing: '(empty)',
  detailsOf: (seq: number) => `Details of change ${seq}`,
  valueOf: (name: string) => `${name} before and after`,
  unchangedLines: (count: number) => (count === 1 ? '1 unchanged line' : `${count} unchanged lines`),
  on: 'On',
  off: 'Off',
  yes: 'Yes',
  no: 'No',
  formattingOnly: 'Formatting only; same value.',
  showLess: 'Show less',
  showAllDifferences: (count: number) => `Show all ${count} differences`,
  showWhole: 'Show in full',
} as const;
