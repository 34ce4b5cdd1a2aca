import { defined } from '@halyard/protocol';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { type ApiError, isMade, isRefusal } from '../api/api-error.ts';
import { onceReplaced, updateFlagInCache, withState } from '../api/flag-cache.ts';
import {
  differsInSwitchOnly,
  readState,
  type StatePlace,
  type ValueTexts,
  writeState,
} from '../api/flag-states.ts';
import {
  cellName,
  clearWriteStatus,
  isOptimistic,
  markOptimistic,
  markOwnWrite,
  setWriteStatus,
} from '../api/own-writes.ts';
import { queryKeys } from '../api/query-cache.ts';
import type { EnvironmentRecord, FlagState, SessionRecord, StateRecord } from '../api/types.ts';
import { toastFailure } from '../components/actions.tsx';
import { DeliveryProof } from '../components/delivery-proof.tsx';
import { announce } from '../components/live-region.tsx';
import { stateText } from '../components/state-summary.tsx';
import { toast } from '../components/toasts.tsx';
import { useChangeGuards } from './change-guards.tsx';
import type { Conflict, Resolution } from './conflict-dialog.tsx';
import { messages } from './messages.ts';

/** A new state for one flag in one environment. */
interface StateChange {
  readonly key: string;
  readonly environment: EnvironmentRecord;
  /** The record on the screen, if there is one. */
  readonly before: StateRecord | undefined;
  /** `null` removes the state. */
  readonly after: FlagState | null;
  /** Why: goes into the audit log. */
  readonly note?: string;
  readonly texts?: ValueTexts | undefined;
  /** Whether a person typed it, so that a conflict must not discard it without asking. */
  readonly isDraft?: boolean;
}

/** How a change ended; `discarded`: the person preferred the newer version. */
type ChangeOutcome = 'done' | 'cancelled' | 'failed' | 'discarded';

/** The dependencies of a write. */
interface StateWriterParts {
  readonly project: string;
  readonly queries: QueryClient;
  readonly resolveConflict: (conflict: Conflict) => Promise<Resolution>;
}

/** The result of each optimistic state; `undefined` if it was not written. */
const outcomes = new WeakMap<StateRecord, Promise<StateRecord | undefined>>();

/**
 * Creates the function that writes a state: it shows the state immediately, restores the old one on a refusal, resolves
 * conflicts, and offers to undo.
 */
function createStateWriter({
  project,
  queries,
  resolveConflict,
}: StateWriterParts): (change: StateChange) => Promise<ChangeOutcome> {
  return writeInTurn;

  /** Waits if the state on the screen is still being written: the server knows it only afterwards. */
  async function writeInTurn(change: StateChange): Promise<ChangeOutcome> {
    const { before } = change;
    const isWaiting = before !== undefined && isOptimistic(before);
    if (!isWaiting) return write(change);
    const written = await outcomes.get(before);
    return written === undefined ? 'cancelled' : write({ ...change, before: written });
  }

  async function write(change: StateChange): Promise<ChangeOutcome> {
    const { key, environment, before, after, note, texts } = change;
    const place: StatePlace = { project, environment: environment.name, key };
    const cell = cellName(project, environment.name, key);
    const shown = after === null ? undefined : optimisticRecord(before, after, authorOf(queries));
    const outcome = Promise.withResolvers<StateRecord | undefined>();
    if (shown !== undefined) outcomes.set(shown, outcome.promise);
    setWriteStatus(cell, 'saving');
    show(place, before, shown);
    const confirmed = environment.protected ? environment.name : undefined;
    let written: WrittenState | undefined;
    try {
      written = await writeState(place, after, { before, confirmed, note, texts }).catch((error: unknown) =>
        isMade(error) ? readWritten(place, error) : Promise.reject(error),
      );
    } catch (error) {
      settle(place, shown, before);
      outcome.resolve(undefined);
      if (isRefusal(error, 'revision_conflict')) return settleWith(change, place, cell);
      setWriteStatus(cell, 'failed');
      announceFailed(change, error);
      return 'failed';
    }
    const record = written && recordOf(written);
    if (record !== undefined) {
      markOwnWrite(record);
      const textKey = queryKeys.valueText(project, environment.name, key, record.revision);
      queries.setQueryData(textKey, written?.valueText ?? '');
    }
    settle(place, shown, record);
    setWriteStatus(cell, 'saved');
    outcome.resolve(record);
    announceDone(change, record, written?.seq);
    return 'done';
  }

  async function settleWith(change: StateChange, place: StatePlace, cell: string): Promise<ChangeOutcome> {
    clearWriteStatus(cell);
    let current: StateRecord | undefined;
    let currentText: string | undefined;
    try {
      const read = await readState(place);
      [current, currentText] = [recordOf(read), read.valueText];
    } catch (error) {
      // The state was removed, so there is no current version.
      if (!isRefusal(error, 'flag_not_found')) {
        announceFailed(change, error);
        return 'failed';
      }
    }
    updateFlagInCache(queries, project, change.key, (flag) => withState(flag, place.environment, current));
    const decision = await resolveConflict({
      key: change.key,
      environment: place.environment,
      current,
      mine: change.after,
      isDraft: change.isDraft ?? false,
    });
    if (decision !== 'overwrite') return decision === 'discard' ? 'discarded' : 'cancelled';
    return write({ ...change, before: current, texts: { before: currentText, after: change.texts?.after } });
  }

  function announceDone(change: StateChange, record: StateRecord | undefined, seq: number | undefined): void {
    const { key, environment, before, after, texts } = change;
    const title = messages.stateIs(key, outcomeText(before, after), environment.name);
    announce(messages.saved(title));
    toast({
      kind: 'done',
      about: cellName(project, environment.name, key),
      title,
      detail: <DeliveryProof seq={seq} />,
      watch: (end) =>
        onceReplaced(
          queries,
          { project, environment: environment.name, keys: [key], revision: record?.revision },
          end,
        ),
      action: {
        label: messages.undo,
        run: () =>
          void write({
            key,
            environment,
            before: record,
            after: before?.state ?? null,
            note: 'Undo',
            texts: { before: texts?.after, after: texts?.before },
          }),
      },
    });
  }

  /** Shows a state that is not written yet. */
  function show(place: StatePlace, before: StateRecord | undefined, shown: StateRecord | undefined): void {
    updateFlagInCache(queries, project, place.key, (flag) =>
      flag.environments[place.environment] === before ? withState(flag, place.environment, shown) : flag,
    );
  }

  /** Replaces the optimistic state, unless the stream has delivered a newer one. */
  function settle(place: StatePlace, shown: StateRecord | undefined, record: StateRecord | undefined): void {
    updateFlagInCache(queries, project, place.key, (flag) => {
      const now = flag.environments[place.environment];
      const isNewer = now !== shown && (now?.revision ?? 0) >= (record?.revision ?? 0);
      return isNewer ? flag : withState(flag, place.environment, record);
    });
  }
}

/** A written state, with the number of its change and its value's text. */
type WrittenState = StateRecord & { readonly seq?: number; readonly valueText: string | undefined };

/** Longer values are not repeated in a message, in characters. */
const LONG_VALUE = 40;

/** The state after a change whose answer was lost; `undefined` if it is removed. */
async function readWritten(place: StatePlace, lost: ApiError): Promise<WrittenState | undefined> {
  try {
    const [seq] = lost.changes;
    return { ...(await readState(place)), ...defined({ seq }) };
  } catch (error) {
    if (isRefusal(error, 'flag_not_found')) return undefined;
    throw lost;
  }
}

/** The outcome in as few words as possible. A value that would be cut is only said to be new, or left out if it is not. */
function outcomeText(before: StateRecord | undefined, after: FlagState | null): string {
  if (after === null) return messages.removed;
  if (before !== undefined && differsInSwitchOnly(before.state, after)) return after.enabled ? 'on' : 'off';
  const { value, ...rest } = after;
  const text = JSON.stringify(value);
  if (text === undefined || text.length <= LONG_VALUE) return stateText(after);
  const isNew = text !== JSON.stringify(before?.state.value);
  return isNew ? messages.withNewValue(stateText(rest)) : stateText(rest);
}

function announceFailed({ key, environment }: StateChange, error: unknown): void {
  toastFailure(messages.stateNotChanged(key, environment.name), error);
}

function recordOf({ state, revision, updatedAt, updatedBy }: StateRecord): StateRecord {
  return { state, revision, updatedAt, ...(updatedBy === undefined ? {} : { updatedBy }) };
}

/** The expected record; its revision is known once it is written. */
function optimisticRecord(
  before: StateRecord | undefined,
  after: FlagState,
  who: Pick<StateRecord, 'updatedBy'>,
): StateRecord {
  const updatedAt = new Date().toISOString();
  const guess = { state: after, revision: before?.revision ?? 0, updatedAt, ...who };
  markOptimistic(guess);
  return guess;
}

/** The person at this screen, as the server will name them. */
function authorOf(queries: QueryClient): Pick<StateRecord, 'updatedBy'> {
  const operator = queries.getQueryData<SessionRecord>(queryKeys.session)?.operator;
  return operator === undefined ? {} : { updatedBy: `operator:${operator.email}` };
}

/**
 * Changes a state: asks for consent if the environment is protected, shows the new state immediately, restores the old one
 * on a refusal, shows both versions on a conflict, and offers to undo.
 */
export function useChangeState(project: string): (change: StateChange) => Promise<ChangeOutcome> {
  const queries = useQueryClient();
  const { askConsent, resolveConflict } = useChangeGuards();
  const write = useMemo(
    () => createStateWriter({ project, queries, resolveConflict }),
    [project, queries, resolveConflict],
  );
  return useCallback(
    async (change: StateChange) => {
      const { key, environment, before, after, note } = change;
      const steps = [{ key, before: before?.state, after }];
      const consent = await askConsent({ project, environment, steps, note });
      return consent === undefined ? 'cancelled' : write({ ...change, ...defined({ note: consent.note }) });
    },
    [project, askConsent, write],
  );
}
