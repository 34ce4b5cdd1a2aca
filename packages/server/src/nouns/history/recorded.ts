import { ENVIRONMENT_COLORS, membersOf, memberText, VALUE_KINDS } from '@halyard/protocol';
import { auditMembers } from '../../domain/audit.ts';
import { acceptedNamedValues } from '../../domain/named-values.ts';
import { type Environment, type Flag, type FlagDetails, PLAIN_DETAILS } from '../../domain/project.ts';
import type { ArchivedStates } from '../../storage/rows.ts';

// The audit log is read leniently: another version may have written it, or it may be damaged.

/** The details of a flag in an entry of the audit log; invalid members are left out. */
export function readDetails(text: string | undefined): Partial<FlagDetails> {
  const { description, tags, owner, permanent, valueKind } = auditMembers(text);
  const kind = VALUE_KINDS.find((each) => each === valueKind);
  // Its values keep their text.
  const listText = text === undefined ? undefined : memberText(text, ['namedValues']);
  const namedValues = listText === undefined ? undefined : acceptedNamedValues(listText);
  return {
    ...(typeof description === 'string' ? { description } : {}),
    ...(isTexts(tags) ? { tags } : {}),
    ...(typeof owner === 'string' ? { owner } : {}),
    ...(typeof permanent === 'boolean' ? { permanent } : {}),
    ...(kind === undefined ? {} : { valueKind: kind }),
    ...(namedValues === undefined ? {} : { namedValues }),
  };
}

/** The appearance of an environment in an entry of the audit log, read as {@link readDetails} does. */
export function readAppearance(
  text: string | undefined,
): Partial<Pick<Environment, 'protected' | 'color' | 'position'>> {
  const { protected: isProtected, color, position } = auditMembers(text);
  const known = ENVIRONMENT_COLORS.find((one) => one === color);
  return {
    ...(typeof isProtected === 'boolean' ? { protected: isProtected } : {}),
    ...(known === undefined ? {} : { color: known }),
    ...(typeof position === 'number' ? { position } : {}),
  };
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
