import { useMemo } from 'react';
import type { FlagRecord } from '../api/types.ts';

/** The tags of a comma-separated text, each once. */
export function tagsOf(text: string): string[] {
  const tags = text.split(',').map((tag) => tag.trim());
  return [...new Set(tags.filter((tag) => tag !== ''))];
}

/** The tags and owners that occur, in order. */
export interface Choices {
  readonly tags: readonly string[];
  readonly owners: readonly string[];
}

/** The values that the filters of a list offer: the same object until they change. */
export function useChoices(flags: readonly FlagRecord[]): Choices {
  const text = useMemo(() => {
    const [tags, owners] = [new Set<string>(), new Set<string>()];
    for (const flag of flags) {
      for (const tag of flag.tags) tags.add(tag);
      if (flag.owner !== '') owners.add(flag.owner);
    }
    return JSON.stringify({ tags: [...tags].sort(), owners: [...owners].sort() });
  }, [flags]);
  return useMemo(() => JSON.parse(text) as Choices, [text]);
}
