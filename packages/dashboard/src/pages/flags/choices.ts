import { useMemo } from 'react';
import type { FlagRecord } from '../../api/types.ts';

/** The tags and owners that occur, in order. */
export interface Choices {
  readonly tags: readonly string[];
  readonly owners: readonly string[];
}

/** What can be chosen from in the filters of a list. */
export function useChoices(flags: readonly FlagRecord[]): Choices {
  return useMemo(() => {
    const [tags, owners] = [new Set<string>(), new Set<string>()];
    for (const flag of flags) {
      for (const tag of flag.tags) tags.add(tag);
      if (flag.owner !== '') owners.add(flag.owner);
    }
    return { tags: [...tags].sort(), owners: [...owners].sort() };
  }, [flags]);
}
