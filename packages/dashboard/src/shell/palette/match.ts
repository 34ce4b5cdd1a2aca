import type { FlagRecord } from '../../api/types.ts';
import type { Command } from '../commands.tsx';

/** The commands that have every word of the text in their title, heading or keywords. */
export function matchCommands(commands: readonly Command[], text: string): readonly Command[] {
  const words = wordsOf(text);
  return commands.filter(({ title, group, keywords = [] }) => {
    const all = `${title} ${group} ${keywords.join(' ')}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

/** Words that name an action on a flag rather than the flag. */
const VERBS = new Set([
  'go',
  'open',
  'flag',
  'to',
  'turn',
  'toggle',
  'on',
  'off',
  'in',
  'copy',
  'key',
  'enable',
  'disable',
]);

/**
 * The flags that match a text, the best first: those whose key begins with it, then those that have it at the start of a
 * word, then anywhere, then in the description. Verbs and names of environments are ignored unless the flag's key has
 * them. One pass over the list: ten thousand flags take a few milliseconds.
 */
export function matchFlags(
  flags: readonly FlagRecord[],
  text: string,
  options: { readonly environments: readonly string[]; readonly most: number },
): readonly FlagRecord[] {
  const words = wordsOf(text);
  const meant = words.filter(
    (word) => !VERBS.has(word) && !options.environments.some((name) => name.startsWith(word)),
  );
  const best: FlagRecord[][] = [[], [], [], []];
  for (const flag of flags) {
    const rank = Math.min(rankOf(flag, words), meant.length === 0 ? Infinity : rankOf(flag, meant));
    best[rank]?.push(flag);
  }
  return best.flat().slice(0, options.most);
}

function rankOf({ key, description, tags }: FlagRecord, words: readonly string[]): number {
  const low = key.toLowerCase();
  let rank = 0;
  for (const word of words) {
    const at = low.indexOf(word);
    if (at === 0) continue;
    if (at > 0) rank = Math.max(rank, /[._-]/.test(low[at - 1] ?? '') ? 1 : 2);
    else if (`${description} ${tags.join(' ')}`.toLowerCase().includes(word)) rank = 3;
    else return Infinity;
  }
  return rank;
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}
