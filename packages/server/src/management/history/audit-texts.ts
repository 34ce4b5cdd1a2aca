import { membersOf, memberText } from '@halyard/protocol';
import { ENVIRONMENT_COLORS, type Environment, type Flag } from '../../domain/project.ts';
import type { ArchivedStates } from '../../domain/store.ts';

// The audit log is read leniently: it may have been written by another version, or be damaged.

/** The texts of a flag in an entry of the audit log; members that are not as they should be are left out. */
export function readTexts(text: string | undefined): Partial<Pick<Flag, 'description' | 'tags' | 'owner'>> {
  const { description, tags, owner } = readObject(text);
  return {
    ...(typeof description === 'string' ? { description } : {}),
    ...(isTexts(tags) ? { tags } : {}),
    ...(typeof owner === 'string' ? { owner } : {}),
  };
}

/** The appearance of an environment in an entry of the audit log, read as {@link readTexts} does. */
export function readAppearance(
  text: string | undefined,
): Partial<Pick<Environment, 'protected' | 'color' | 'position'>> {
  const { protected: isProtected, color, position } = readObject(text);
  const known = ENVIRONMENT_COLORS.find((one) => one === color);
  return {
    ...(typeof isProtected === 'boolean' ? { protected: isProtected } : {}),
    ...(known === undefined ? {} : { color: known }),
    ...(typeof position === 'number' ? { position } : {}),
  };
}

/** A deleted flag as an entry of the audit log keeps it; `undefined` when the entry does not. */
export function readDeletedFlag(
  text: string | undefined,
): { readonly flag: Omit<Flag, 'projectId' | 'key'>; readonly states: ArchivedStates } | undefined {
  const { description, tags, owner } = readTexts(text);
  const { createdAt, archivedAt } = readObject(text);
  if (description === undefined || tags === undefined || typeof createdAt !== 'number') return undefined;
  const states = memberText(text ?? '{}', ['archivedStates']);
  return {
    flag: {
      ...{ description, tags, owner: owner ?? '', createdAt },
      ...(typeof archivedAt === 'number' ? { archivedAt } : {}),
    },
    states: new Map(states === undefined ? [] : membersOf(states)),
  };
}

function readObject(text: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const data: unknown = JSON.parse(text ?? '{}');
    // A non-null object has string members; an array has none of those that are asked for.
    return typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {};
  } catch {
    // Damaged: nothing is known.
    return {};
  }
}

function isTexts(data: unknown): data is readonly string[] {
  return Array.isArray(data) && data.every((item) => typeof item === 'string');
}
