import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { readState, type StatePlace } from '../../api/flag-states.ts';
import { isOptimistic, isOwnWrite } from '../../api/own-writes.ts';
import { queryKeys } from '../../api/query-cache.ts';
import type { Json, StateRecord } from '../../api/types.ts';
import {
  draftOf,
  isDirty,
  isSameContent,
  rebased,
  type StateDraft,
  type StateVersion,
} from './state-draft.ts';

/** A draft and how it stands to what the server has. */
interface HeldDraft {
  readonly draft: StateDraft;
  /** The version it began from: a save names its revision. */
  readonly base: StateVersion;
  readonly isDirty: boolean;
  /** Somebody changed the same since: their version is not what is being edited. */
  readonly isOvertaken: boolean;
  readonly edit: (change: Partial<StateDraft>) => void;
  /** Takes the server's version and drops the draft. */
  readonly reset: () => void;
  /** Goes on with the draft, over the server's version. */
  readonly keep: () => void;
}

/** A draft, the version it began from, and the newest of somebody else since, which a person has to decide on. */
interface Held {
  readonly base: StateVersion;
  readonly draft: StateDraft;
  readonly theirs?: StateVersion;
}

/**
 * Holds what somebody types while the server's version moves on. A draft that says nothing else than the version
 * follows it; one that does stays, and is told to be overtaken. `isBusy` while a save is under way: its guess is no
 * version, and may still be there for a moment after it was refused.
 */
export function useStateDraft(current: StateVersion, isBusy: boolean): HeldDraft {
  const [held, setHeld] = useState<Held>(() => ({ base: current, draft: draftOf(current) }));
  const { base, draft } = held;
  const isBehind = !isEqual(base, current);
  let isOvertaken = false;
  if (isBehind && !isBusy && !isOptimistic(current.record)) {
    const next = follow(held, current);
    isOvertaken = next.theirs !== undefined;
    // React runs this component again at once, before anything is painted.
    if (next !== held) setHeld(next);
  }
  return {
    draft,
    base,
    isDirty: isDirty(draft, base),
    isOvertaken,
    edit: (change) => setHeld({ ...held, draft: { ...draft, ...change } }),
    reset: () => setHeld({ base: current, draft: draftOf(current) }),
    keep: () => setHeld({ base: current, draft }),
  };
}

/** What becomes of a draft when there is a newer version; with `theirs` when a person has to decide. */
function follow(held: Held, current: StateVersion): Held {
  const { base, draft, theirs } = held;
  if (!isDirty(draft, base) || !isDirty(draft, current)) return { base: current, draft: draftOf(current) };
  // Only the switch was flipped, or the value's exact text has arrived.
  const isSame = isSameContent(base, current) || base.record?.revision === current.record?.revision;
  const isMineNow = current.record !== undefined && isOwnWrite(current.record);
  // Saved from here, while more was being typed: there is nobody to be told of, unless theirs still stands there.
  const isOwn = isMineNow && (theirs === undefined || !isSameContent(theirs, current));
  if (isSame || isOwn) return { base: current, draft: rebased(draft, base, current) };
  return isMineNow || (theirs && isEqual(theirs, current)) ? held : { ...held, theirs: current };
}

function isEqual(one: StateVersion, other: StateVersion): boolean {
  return one.record === other.record && one.valueText === other.valueText;
}

/**
 * The value's JSON text as the server keeps it; until it has come, and where the notation cannot differ, what
 * `JSON.stringify` makes of the value. `undefined` for no value.
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
      // A newer state, of which the record is still on its way, must not pass for this one.
      return revision === record?.revision ? valueText : (queries.getQueryData<string>(queryKey) ?? '');
    },
    enabled: !isPlain,
    staleTime: Infinity,
    // Somebody flipped the switch: the value most likely stands there as before.
    placeholderData: (before) => (before !== undefined && saysSame(before, value) ? before : undefined),
  });
  if (value === undefined) return undefined;
  return isPlain || data === undefined || data === '' ? JSON.stringify(value) : data;
}

function saysSame(text: string, value: Json | undefined): boolean {
  return text !== '' && JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
}
