import { stateParts } from '../../domain/flag-state-text.ts';
import type { StateText, StoredState } from '../../domain/project.ts';
import { RawJson, type Writable, writeJson } from '../../domain/raw-json.ts';
import { isoTime } from '../../management/api/answers.ts';

/** How the values of a list are answered. */
export type Values = 'whole' | 'preview';

/** Longer values are cut in a list of previews, in bytes of JSON. */
const SHORT_BYTES = 256;

/** What is left of them, in characters. */
const START_LENGTH = 64;

/** A state as it is answered, with its revision, author and own text. */
export function stateRecord(stored: StoredState, values: Values = 'whole') {
  const { state, revision, updatedAt, updatedBy } = stored;
  const who = updatedBy === '' ? {} : { updatedBy };
  const text = values === 'whole' ? state : previewOf(state);
  return { state: new RawJson(text), revision, updatedAt: isoTime(updatedAt), ...who };
}

/** The text of a state whose value is cut if it is long. */
function previewOf(state: StateText): string {
  // Most states are short as a whole, and are not taken apart.
  if (state.length <= SHORT_BYTES / 3) return state;
  const { valueText, others: _, ...rest } = stateParts(state) ?? {};
  const bytes = Buffer.byteLength(valueText ?? '');
  if (valueText === undefined || bytes <= SHORT_BYTES) return state;

  // Half of a character would be no text.
  const start = valueText.slice(0, START_LENGTH).replace(/[\uD800-\uDBFF]$/, '');
  const digest = Bun.SHA256.hash(valueText, 'hex').slice(0, 16);
  const shown: Writable = { ...rest, valuePreview: { start, bytes, digest } };
  return writeJson(shown);
}
