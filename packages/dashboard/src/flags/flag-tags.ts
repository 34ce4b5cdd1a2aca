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
  return useSame(
    useMemo(() => {
      const [tags, owners] = [new Set<string>(), new Set<string>()];
      for (const flag of flags) {
        for (const tag of flag.tags) tags.add(tag);
        if (flag.owner !== '') owners.add(flag.owner);
      }
      return { tags: [...tags].sort(), owners: [...owners].sort() };
    }, [flags]),
  );
}

/** A value of JSON: the same object until its content changes. Keep `value` itself stable while nothing changes. */
export function useSame<Value>(value: Value): Value {
  const text = useMemo(() => JSON.stringify(value), [value]);
  // What JSON has written is what it reads.
  return useMemo(() => JSON.parse(text) as Value, [text]);
}
