import { membersOf } from '@halyard/protocol';
import { parseStored } from './flag-state-text.ts';
import type { StateText } from './project.ts';

/**
 * Checks a stored state before it is served: gives its text, or `undefined` when it is no flag state at all. Members
 * that the specification does not name never leave the service, and no text may hold a line break, which would cut
 * a frame in two; such a text is written anew from its parsed form.
 */
export function checkStoredState(stored: unknown): StateText | undefined {
  const state = parseStored(stored);
  // `string`: nothing else can be parsed.
  const text = stored as string;
  if (state === undefined) return undefined;
  return isServable(text) ? text : JSON.stringify(state);
}

const MEMBERS = new Set(['enabled', 'value', 'rolloutPct']);

function isServable(text: string): boolean {
  const members = membersOf(text) ?? [];
  return text.startsWith('{"') && !/[\r\n]/.test(text) && members.every(([member]) => MEMBERS.has(member));
}
