import type { FlagRecord } from '../../api/types.ts';
import type { Command } from '../../components/commands.tsx';
import { RANKS, rankFlag, wordsOf } from '../../flags/flag-filter.ts';

/** The commands that have every word of the text in their title, heading or keywords. */
export function matchCommands(commands: readonly Command[], text: string): readonly Command[] {
  const words = wordsOf(text);
  return commands.filter(({ title, group, keywords = [] }) => {
    const all = `${title} ${group} ${keywords.join(' ')}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

/** Whether the text begins a word of the command's title, as "web" does with the screen "Webhooks". */
export function isNamed({ title }: Command, text: string): boolean {
  const start = text.trim().toLowerCase();
  return start !== '' && ` ${title.toLowerCase()}`.includes(` ${start}`);
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
 * word, then anywhere, then in the description or the owner. Verbs and names of environments are ignored unless the flag's key has
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
  const best: FlagRecord[][] = Array.from({ length: RANKS }, () => []);
  for (const flag of flags) {
    const rank = Math.min(rankFlag(flag, words), meant.length === 0 ? Infinity : rankFlag(flag, meant));
    best[rank]?.push(flag);
  }
  return best.flat().slice(0, options.most);
}
