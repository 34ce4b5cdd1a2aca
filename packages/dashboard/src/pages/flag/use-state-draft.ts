import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { readState, type StatePlace } from '../../api/flag-states.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { isOwnWrite } from '../../api/state-writes.ts';
import type { Json, StateRecord } from '../../api/types.ts';
import {
  draftOf,
  isDirty,
  isSameContent,
  rebased,
  type StateDraft,
  type StateVersion,
} from './state-draft.ts';

/** A draft, compared with the version of the server. */
interface DraftState {
  readonly draft: StateDraft;
  /** The version it began from: a save names its revision. */
  readonly base: StateVersion;
  readonly isDirty: boolean;
  /** Another person has saved a newer version of what is being edited. */
  readonly isOvertaken: boolean;
  readonly edit: (change: Partial<StateDraft>) => void;
  /** Drops the draft for the server's version. */
  readonly reset: () => void;
  /** Keeps the draft, to overwrite the server's version. */
  readonly keep: () => void;
}

/** A draft, the version it began from, and a newer version by another person that needs a decision. */
interface Editing {
  readonly base: StateVersion;
  readonly draft: StateDraft;
  readonly theirs?: StateVersion;
}

/**
 * Keeps a draft while the server's version changes. A draft without edits follows the version; one with edits stays, and
 * is overtaken, unless the version is this tab's own. `isBusy` during a save, whose outcome says what is whose.
 */
export function useStateDraft(place: StatePlace, current: StateVersion, isBusy: boolean): DraftState {
  const queries = useQueryClient();
  const [editing, setEditing] = useState<Editing>(() => ({ base: current, draft: draftOf(current) }));
  const { base, draft } = editing;
  const isBehind = !isEqual(base, current);
  let isOvertaken = false;
  if (isBehind && !isBusy) {
    const isMine = current.record !== undefined && isOwnWrite(queries, place, current.record.revision);
    const next = follow(editing, current, isMine);
    isOvertaken = next.theirs !== undefined;
    // React renders this component again at once, before it paints.
    if (next !== editing) setEditing(next);
  }

  return {
    draft,
    base,
    isDirty: isDirty(draft, base),
    isOvertaken,
    edit: (change) => setEditing({ ...editing, draft: { ...draft, ...change } }),
    reset: () => setEditing({ base: current, draft: draftOf(current) }),
    keep: () => setEditing({ base: current, draft }),
  };
}

/** The draft after a newer version arrived, maybe from this tab; with `theirs` where a person has to decide. */
function follow(editing: Editing, current: StateVersion, isMine: boolean): Editing {
  const { base, draft, theirs } = editing;
  if (!isDirty(draft, base) || !isDirty(draft, current)) return { base: current, draft: draftOf(current) };
  // Only the switch was flipped, or the exact text of the value has arrived.
  const isSame = isSameContent(base, current) || base.record?.revision === current.record?.revision;
  // Saved from this tab while more was typed: not a conflict, unless theirs is still undecided.
  const isOwn = isMine && (theirs === undefined || !isSameContent(theirs, current));
  if (isSame || isOwn) return { base: current, draft: rebased(draft, base, current) };
  return isMine || (theirs && isEqual(theirs, current)) ? editing : { ...editing, theirs: current };
}

function isEqual(one: StateVersion, other: StateVersion): boolean {
  return one.record === other.record && one.valueText === other.valueText;
}

/**
 * The value's JSON text as the server stores it. While it loads, and where the notation cannot differ, the result of
 * `JSON.stringify`. `undefined` for no value.
 */
export function useValueText(place: StatePlace, record: StateRecord | undefined): string | undefined {
  const { project, environment, key } = place;
  const value = record?.state.value;
  const isPlain = value === undefined || value === null || typeof value === 'boolean';
  const queries = useQueryClient();
  const queryKey = queryKeys.valueText(project, environment, key, record?.revision);
  const { data } = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const { revision, valueText = '' } = await readState(place, signal);
      // The answer may belong to a newer state whose record has not arrived.
      return revision === record?.revision ? valueText : (queries.getQueryData<string>(queryKey) ?? '');
    },
    enabled: !isPlain,
    staleTime: Infinity,
    // After a flip of the switch the value is most likely the same.
    placeholderData: (before) => (before !== undefined && isSameJson(before, value) ? before : undefined),
  });
  if (value === undefined) return undefined;
  return isPlain || data === undefined || data === '' ? JSON.stringify(value) : data;
}

function isSameJson(text: string, value: Json | undefined): boolean {
  return text !== '' && JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
}
