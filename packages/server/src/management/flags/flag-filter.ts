import type { Flag } from '../../domain/project.ts';

/** Whether archived flags are meant. */
export const ARCHIVED_CHOICES = ['false', 'true', 'all'] as const;

/** Which flags of a project are meant; every given member must hold. */
export interface FlagFilter {
  /** Default `false`: those in use. */
  readonly archived?: (typeof ARCHIVED_CHOICES)[number];
  /** Found in the key, the description, a tag or the owner, whatever the case of its letters. */
  readonly text?: string;
  /** A whole tag. */
  readonly tag?: string;
  /** The whole owner, whatever the case of its letters. */
  readonly owner?: string;
}

/** Whether the filter lets the flag through. */
export function matches(flag: Flag, { archived = 'false', text, tag, owner }: FlagFilter): boolean {
  if (archived !== 'all' && (flag.archivedAt !== undefined) !== (archived === 'true')) return false;
  if (tag !== undefined && !flag.tags.includes(tag)) return false;
  if (owner !== undefined && flag.owner.toLowerCase() !== owner.toLowerCase()) return false;
  if (text === undefined) return true;
  const wanted = text.trim().toLowerCase();
  return [flag.key, flag.description, flag.owner, ...flag.tags].some((one) =>
    one.toLowerCase().includes(wanted),
  );
}
