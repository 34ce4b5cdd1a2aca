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
  'set',
  'rollout',
  'percent',
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

/** A share of a rollout in a text, such as "25 %" in "checkout 25 %". */
interface TypedShare {
  /** From 0 to 100. */
  readonly share: number;
  /** As it was typed. */
  readonly typed: string;
  /** The text without it. */
  readonly rest: string;
  /** Whether a percent sign or the word says that it is one. A number alone may be a part of a key. */
  readonly isPercent: boolean;
}

/** The share that a text asks for; `undefined` without a number from 0 to 100 of at most three decimals. */
export function shareIn(text: string): TypedShare | undefined {
  const [found, before = '', typed = '', sign] =
    /(^|\s)(\d{1,3}(?:[.,]\d{1,3})?)\s*(%|percent\b)?(?=\s|$)/i.exec(text) ?? [];
  const share = Number(typed.replace(',', '.'));
  if (found === undefined || share > 100) return undefined;
  const rest = text.replace(found, before).trim();
  return { share, typed, rest, isPercent: sign !== undefined || /\brollout\b/i.test(text) };
}
