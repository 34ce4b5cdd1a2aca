import { parseFlagState } from '@halyard/protocol';
import type { StateText } from '../domain/flag.ts';

/**
 * Checks a stored state before it is served: gives its text, or `undefined` when it is no flag state at all. Members
 * that the specification does not name never leave the service, and no text may hold a line break, which would cut
 * a frame in two; such a text is written anew from its parsed form.
 */
export function checkStoredState(stored: unknown): StateText | undefined {
  if (typeof stored !== 'string') return undefined;
  let data: unknown;
  try {
    data = JSON.parse(stored);
  } catch {
    // A damaged record is no flag; the catalog counts and logs it.
    return undefined;
  }
  const state = parseFlagState(data);
  if (state === undefined) return undefined;
  return isServable(stored, Object.keys(data as object)) ? stored : JSON.stringify(state);
}

const MEMBERS = new Set(['enabled', 'value', 'rolloutPct']);

function isServable(text: string, members: readonly string[]): boolean {
  return text.startsWith('{"') && !/[\r\n]/.test(text) && members.every((member) => MEMBERS.has(member));
}
