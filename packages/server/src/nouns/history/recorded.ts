import { defined, ENVIRONMENT_COLORS, membersOf, memberText, VALUE_KINDS } from '@halyard/protocol';
import { auditMembers } from '../../domain/audit.ts';
import { acceptedNamedValues } from '../../domain/named-values.ts';
import {
  type Environment,
  type Flag,
  type FlagDetails,
  PLAIN_APPEARANCE,
  PLAIN_DETAILS,
} from '../../domain/project.ts';
import type { ArchivedStates } from '../../storage/rows.ts';

// The audit log is read leniently: another version may have written it, or it may be damaged.

/** The details of a flag in an entry of the audit log; invalid members are left out. */
export function readDetails(text: string | undefined): Partial<FlagDetails> {
  const { description, tags, owner, permanent, valueKind } = auditMembers(text);
  // Its values keep their text.
  const listText = text === undefined ? undefined : memberText(text, ['namedValues']);
  const namedValues = listText === undefined ? undefined : acceptedNamedValues(listText);
  return defined({
    description: typeof description === 'string' ? description : undefined,
    tags: isTexts(tags) ? tags : undefined,
    owner: typeof owner === 'string' ? owner : undefined,
    permanent: typeof permanent === 'boolean' ? permanent : undefined,
    valueKind: VALUE_KINDS.find((each) => each === valueKind),
    namedValues,
  });
}

/** The appearance of an environment in an entry of the audit log, read as {@link readDetails} does. */
export function readAppearance(text: string | undefined): Partial<Environment> {
  const { protected: isProtected, color, position, ...guards } = auditMembers(text);
  // Guards that have their default are not written.
  const { approvals, emergencyOff, reasonRequired } = { ...PLAIN_APPEARANCE, ...guards };

  return defined({
    protected: typeof isProtected === 'boolean' ? isProtected : undefined,
    color: ENVIRONMENT_COLORS.find((one) => one === color),
    position: typeof position === 'number' ? position : undefined,
    approvals: typeof approvals === 'number' ? approvals : undefined,
    emergencyOff: typeof emergencyOff === 'boolean' ? emergencyOff : undefined,
    reasonRequired: typeof reasonRequired === 'boolean' ? reasonRequired : undefined,
  });
}

/** A deleted flag in an entry of the audit log; `undefined` when the entry does not hold all of it. */
export function readDeletedFlag(
  text: string | undefined,
): { readonly flag: Omit<Flag, 'projectId' | 'key'>; readonly states: ArchivedStates } | undefined {
  const { description, tags, ...details } = readDetails(text);
  const { createdAt, archivedAt } = auditMembers(text);
  if (description === undefined || tags === undefined || typeof createdAt !== 'number') return undefined;
  const states = memberText(text ?? '{}', ['archivedStates']);
  return {
    flag: {
      ...PLAIN_DETAILS,
      ...details,
      description,
      tags,
      createdAt,
      ...(typeof archivedAt === 'number' ? { archivedAt } : {}),
    },
    states: new Map(states === undefined ? [] : membersOf(states)),
  };
}

function isTexts(data: unknown): data is readonly string[] {
  return Array.isArray(data) && data.every((item) => typeof item === 'string');
}
