import { membersOf } from '@halyard/protocol';
import type { StateText } from '../domain/project.ts';
import { RawJson, writeJson } from '../domain/raw-json.ts';
import type { ArchivedStates } from '../domain/store.ts';

/** The states of an archived flag as one JSON text, each state as it was stored. */
export function writeArchivedStates(states: ArchivedStates): string {
  return writeJson(new Map([...states].map(([id, state]) => [id, new RawJson(state)])));
}

/** Reads what {@link writeArchivedStates} wrote; nothing and a damaged text give no states. */
export function parseArchivedStates(text: string | undefined): ReadonlyMap<string, StateText> {
  if (text === undefined) return new Map();
  try {
    JSON.parse(text);
  } catch {
    // Damaged: whoever restores the flag gets it without states, and can set them.
    return new Map();
  }
  return new Map(membersOf(text) ?? []);
}
