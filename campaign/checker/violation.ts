/** The faults that a history can have, with the properties they break. */
export const VIOLATION_KINDS = {
  mix: 'P1: a map that is no committed revision',
  foreign: 'P1: a map of another environment',
  phantom: 'P1: a write that was never sent, or was refused',
  'wrong-revision': 'P1: a revision header that does not fit the map',
  repeat: 'P2: a revision sent twice',
  'behind-event': 'P7: an answer that is older than the event that caused its read',
  'went-back': 'P2, P7, P14: an older revision after a newer one',
  skip: 'P3: a revision left out of an open stream',
  'wrong-change': 'P3: a change that names other revisions than its reader has and gets',
  stuck: 'P4, P14: an open stream, or a client, that stayed behind',
  'sent-after-loss': 'P5: something sent after the node knew that it lost the log',
  'not-converged': 'P6, P14: not every node or reader reached the newest state',
  crashed: 'a process that ended by itself',
  'wrong-refusal': 'a refusal for a cause that was not there',
  'lost-write': 'P9: an acknowledged write that is gone',
  'lost-update': 'P9: a conditional write that overwrote what its writer had not seen',
  'double-revision': 'P9: one revision given to two writes',
  'unexplained-revision': 'P1: a revision that no write explains',
  'wrong-audit': 'P9: an audit log that tells another story than the revisions',
  'not-current': 'P11: an answer that calls itself current and lacks an old change',
  'age-too-small': 'P11: an answer that is older than it admits',
  'restarted-in-the-past':
    'P12: a restarted node that failed, or answered from its past, although its source was there',
  silent: 'P13: a node that answered nothing while its workers were killed',
  'missing-object': 'P15: a pointer that names what is not there',
  'served-after-end': 'P10: a key that went on working after its end',
  'not-closed': 'P10: a stream left open after its key ended',
} as const;

/** The kind of a {@link Violation}. */
export type ViolationKind = keyof typeof VIOLATION_KINDS;

/** One broken promise. */
export interface Violation {
  readonly kind: ViolationKind;
  /** When it showed, epoch milliseconds. */
  readonly at: number;
  readonly environment?: string;
  /** Whose promise was broken: a stream, a node, a write. */
  readonly subject: string;
  /** The events, in sentences for a person. */
  readonly story: string;
}

/** Collects violations while a history is read. */
export type Report = (violation: Violation) => void;
