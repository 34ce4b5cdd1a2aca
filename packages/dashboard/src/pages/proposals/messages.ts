import type { ProposalStatus } from '@halyard/protocol';
import type { Decision } from '../../api/proposals.ts';

const people = (count: number) => (count === 1 ? '1 more person' : `${count} more people`);

/** A wait in the largest unit that it is a whole number of. */
function waitText(minutes: number): string {
  const [unit, size] = UNITS.find(([, length]) => minutes % length === 0) ?? UNITS[2];
  return `${minutes / size} ${unit}${minutes === size ? '' : 's'}`;
}

const UNITS = [
  ['day', 1440],
  ['hour', 60],
  ['minute', 1],
] as const;

/** The texts of the screen "Proposals". */
export const messages = {
  title: 'Proposals',
  intro: 'Changes that other people approve before they are made.',
  emptyTitle: 'No proposals',
  empty:
    'Where an environment requires approval, a change becomes a proposal, and other people decide about it here. An administrator can require that for each protected environment.',
  settings: 'Environments',
  asked: 'Waiting for you',
  waiting: 'Waiting for others',
  ended: 'Ended',
  nothingAsked: 'Nothing waits for you.',
  list: (name: string) => `Proposals: ${name}`,
  by: 'by',
  expires: 'expires',
  approvals: (given: number, needed: number) => `${given} of ${needed}`,
  approvalsLong: (given: number, needed: number) =>
    `${given} of ${needed} ${needed === 1 ? 'approval' : 'approvals'}`,

  statuses: {
    open: 'open',
    approved: 'approved, held',
    applied: 'applied',
    outdated: 'outdated',
    rejected: 'rejected',
    withdrawn: 'withdrawn',
    expired: 'expired',
    emergency: 'emergency',
    acknowledged: 'acknowledged',
  } satisfies Readonly<Record<ProposalStatus, string>>,

  /** The status in a sentence. */
  meaning: {
    open: (missing: number) => `It waits for the approval of ${people(missing)}. Nothing has changed yet.`,
    held: (missing: number) =>
      `It waits for the approval of ${people(missing)}, and then for a person who applies it. Nothing has changed yet.`,
    approved: 'It is approved, and waits for a person who applies it. Nothing has changed yet.',
    applied: 'The change was made.',
    outdated: 'What it would change has changed since, so nothing was done. Its approvals no longer count.',
    rejected: 'Nothing was changed.',
    withdrawn: 'Nothing was changed.',
    expired: 'Too few people approved it in time. Nothing was changed.',
    emergency: 'The change was made without approval. Another person must acknowledge it.',
    acknowledged: 'The change was made without approval, and another person has acknowledged it.',
  },

  // One proposal
  back: 'Proposals',
  missingTitle: 'No such proposal',
  missing: 'It may have been deleted with its environment or project.',
  token: (name: string) => `with a token of ${name}`,
  approvedBy: 'Approved by',
  noApprovals: 'No one yet',
  endedBy: 'Ended by',
  acknowledgedBy: 'Acknowledged by',
  outcome: 'Because',
  expiry: 'Expires',
  change: (seq: number) => `Change ${seq}`,
  changeLabel: 'Made as',
  what: 'What changes',
  whatChanged: 'What changed',
  in: 'in',
  since: 'Since then',
  wouldEnd: 'As long as this is so, approving it changes nothing and ends it as outdated.',
  now: 'at once',
  wait: (minutes: number) => `after ${waitText(minutes)}`,
  due: 'Due',
  proposed: 'Proposed',
  byPerson: 'by',
  showMore: (count: number) => `Show ${count} more`,

  decisions: {
    approve: 'Approve',
    apply: 'Apply',
    reject: 'Reject',
    withdraw: 'Withdraw',
    acknowledge: 'Acknowledge',
  } satisfies Readonly<Record<Decision, string>>,
  questions: {
    approve: 'Approve this change?',
    apply: 'Apply this change?',
    reject: 'Reject this proposal?',
    withdraw: 'Withdraw this proposal?',
    acknowledge: 'Acknowledge this emergency?',
  } satisfies Readonly<Record<Decision, string>>,
  subject: (title: string, environments: string) => `${title} in ${environments}`,
  effects: {
    approve: (isLast: boolean, isHeld: boolean) => {
      if (!isLast) return 'It needs more approvals after yours. Nothing changes yet.';
      return isHeld
        ? 'Yours is the last approval that it needs. It then waits until a person applies it.'
        : 'Yours is the last approval that it needs: the change is made at once.';
    },
    apply: 'The change is made at once, as its author.',
    reject: 'It ends, and its author reads why.',
    withdraw: 'It ends, and nothing changes.',
    acknowledge: 'You confirm that you have seen what was changed without approval.',
  },
  done: {
    approve: 'Approved',
    apply: 'Applied',
    reject: 'Rejected',
    withdraw: 'Withdrawn',
    acknowledge: 'Acknowledged',
  } satisfies Readonly<Record<Decision, string>>,
  madeNow: 'Approved, and the change is made',
  outdatedNow: 'It is outdated: nothing was changed',
  alreadyDecided: 'It has ended in the meantime',
  rejectNote: 'Why?',
  rejectNoteHint: 'Its author and the history read it.',
  rejectNoteMissing: 'Say why.',
  optionalNote: 'Note',
  optionalNoteHint: 'Optional. The history keeps it.',

  // Why there is no button
  own: 'You proposed this yourself: another person decides.',
  ownEmergency: 'You made this change yourself: another person acknowledges it.',
  approvedAlready: 'You have approved it.',
  noRight: 'You may not change this environment yourself, so you cannot decide about it.',

  again: 'Propose again',
  againFailed: 'It was not proposed again',
  againHint: 'It is the same change, on what is in effect now, and needs new approvals.',
} as const;

/** What an entry besides a changed state says that it does; its target follows. */
export function actionWords(action: string): string {
  return ACTIONS[action] ?? action.replaceAll(/[._]/g, ' ');
}

/** The words of each action that a change which is proposed may have. */
export const ACTIONS: Readonly<Record<string, string>> = {
  'flag.created': 'creates the flag',
  'flag.recreated': 'creates the flag again:',
  'flag.updated': 'edits the flag',
  'flag.archived': 'archives the flag',
  'flag.restored': 'restores the flag',
  'flag.deleted': 'deletes the flag',
  'environment.created': 'creates the environment',
  'environment.updated': 'edits the environment',
  'environment.deleted': 'deletes the environment',
  'project.updated': 'edits the project',
  'project.deleted': 'deletes the project',
  'key.created': 'creates the key',
  'key.revoked': 'revokes the key',
  'webhook.created': 'creates the webhook',
  'webhook.updated': 'edits the webhook',
  'webhook.deleted': 'deletes the webhook',
  'operator.changed': 'changes the rights of',
  'schedule.created': 'schedules a change of',
  'schedule.cancelled': 'cancels the scheduled change of',
  'rollout.started': 'starts a rollout plan for',
  'rollout.advanced': 'rolls out',
  'rollout.paused': 'pauses the rollout plan of',
  'rollout.resumed': 'resumes the rollout plan of',
  'rollout.stopped': 'stops the rollout plan of',
};
