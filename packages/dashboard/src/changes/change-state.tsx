import { defined } from '@halyard/protocol';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { type ApiError, isMade, isProposed, isRefusal } from '../api/api-error.ts';
import type { Wish } from '../api/approvals.ts';
import { onceReplaced, updateFlagInCache, withState } from '../api/flag-cache.ts';
import {
  differsInSwitchOnly,
  readState,
  type StatePlace,
  type ValueTexts,
  withValueOf,
  writeState,
} from '../api/flag-states.ts';
import { keptName } from '../api/named-values.ts';
import { queryKeys } from '../api/query-cache.ts';
import { type ShownRecord, saidOf, writeInTurn } from '../api/state-writes.ts';
import type { EnvironmentRecord, FlagState, SessionRecord, StateRecord } from '../api/types.ts';
import { toastFailure } from '../components/actions.tsx';
import { DeliveryProof } from '../components/delivery-proof.tsx';
import { stateText } from '../components/state-summary.tsx';
import { toast } from '../components/toasts.tsx';
import { useChangeGuards } from './change-guards.tsx';
import type { Conflict, Resolution } from './conflict-dialog.tsx';
import { messages } from './messages.ts';
import { undoNote } from './undo-change.ts';

/** A new state for one flag in one environment. */
interface StateChange {
  readonly key: string;
  readonly environment: EnvironmentRecord;
  /** The record on the screen, if there is one. */
  readonly before: ShownRecord | undefined;
  /** `null` removes the state. */
  readonly after: FlagState | null;
  /** Why: goes into the audit log. */
  readonly note?: string;
  /** What to send instead, where other people must approve. */
  readonly wish?: Wish;
  readonly texts?: ValueTexts | undefined;
  /** Whether a person typed it, so that a conflict must not discard it without asking. */
  readonly isDraft?: boolean;
}

/** How a change ended; `discarded`: the person preferred the newer version, or it was proposed. */
type ChangeOutcome = 'done' | 'cancelled' | 'failed' | 'discarded';

/** The dependencies of a write. */
interface StateWriterParts {
  readonly project: string;
  readonly queries: QueryClient;
  readonly resolveConflict: (conflict: Conflict) => Promise<Resolution>;
}

/**
 * Creates the function that writes a state: the state is shown while it is written, conflicts are resolved, and it offers to
 * undo.
 */
function createStateWriter({
  project,
  queries,
  resolveConflict,
}: StateWriterParts): (change: StateChange) => Promise<ChangeOutcome> {
  return write;

  async function write(change: StateChange): Promise<ChangeOutcome> {
    const place: StatePlace = { project, environment: change.environment.name, key: change.key };
    try {
      const written = await writeInTurn<Written>(
        queries,
        { ...place, keys: [place.key] },
        {
          run: () => run(change, place),
          isQuiet: (error) =>
            error instanceof Overtaken || isProposed(error) || isRefusal(error, 'revision_conflict'),
          // A proposal changes nothing now.
          wished: isMadeNow(change)
            ? { before: change.before, after: change.after, texts: change.texts, ...authorOf(queries) }
            : undefined,
        },
      );
      announceDone(change, written);
      return 'done';
    } catch (error) {
      if (error instanceof Overtaken) return 'cancelled';
      if (isProposed(error)) return 'discarded';
      if (isRefusal(error, 'revision_conflict')) return settleWith(change, place);
      announceFailed(change, error);
      return 'failed';
    }
  }

  /** Writes the state that the change begins from, and keeps what the server answers. */
  async function run(change: StateChange, place: StatePlace): Promise<Written> {
    const { environment, note, wish, texts } = change;
    const before = beginningOf(change);
    const after = withValueOf(change.after, before?.state);

    const confirmed = environment.protected ? environment.name : undefined;
    const options = { before, confirmed, note, wish, texts };
    const answer: WrittenState | undefined = await writeState(place, after, options).catch(
      (error: unknown) => (isMade(error) ? readWritten(place, error) : Promise.reject(error)),
    );
    if (answer === undefined) {
      keep(place, before, undefined);
      return { before, record: undefined, revision: undefined, seq: undefined };
    }

    const named = keptName(before, answer.state, texts?.before === texts?.after);
    const record = { ...recordOf(answer), ...named };
    const textKey = queryKeys.valueText(project, place.environment, place.key, record.revision);
    queries.setQueryData(textKey, answer.valueText ?? '');
    keep(place, before, record);
    return { before, record, revision: record.revision, seq: answer.seq };
  }

  async function settleWith(change: StateChange, place: StatePlace): Promise<ChangeOutcome> {
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
      mine: withValueOf(change.after, current?.state),
      isDraft: change.isDraft ?? false,
    });
    if (decision !== 'overwrite') return decision === 'discard' ? 'discarded' : 'cancelled';
    return write({ ...change, before: current, texts: { before: currentText, after: change.texts?.after } });
  }

  function announceDone(change: StateChange, { before, record, seq }: Written): void {
    const { key, environment, texts } = change;
    const after = withValueOf(change.after, before?.state);
    const title = titleOf(key, environment.name, { before, after });
    toast({
      kind: 'done',
      about: `${project}\n${environment.name}\n${key}`,
      title,
      detail: <DeliveryProof seq={seq} />,
      watch: (end) =>
        onceReplaced(
          queries,
          { project, environment: environment.name, keys: [key], revision: record?.revision },
          end,
        ),
      // That would be another emergency, or a proposal.
      ...(environment.approvals > 0 ? {} : { action: { label: messages.undo, run: undo } }),
    });

    function undo(): void {
      void write({
        key,
        environment,
        before: record,
        after: before?.state ?? null,
        ...defined({ note: undoNote(environment.reasonRequired) }),
        texts: { before: texts?.after, after: texts?.before },
      });
    }
  }

  /** Keeps what was written, unless the stream has delivered something newer. */
  function keep(place: StatePlace, before: StateRecord | undefined, record: StateRecord | undefined): void {
    const oldest = record?.revision ?? (before?.revision ?? 0) + 1;
    updateFlagInCache(queries, project, place.key, (flag) => {
      const now = flag.environments[place.environment]?.revision ?? 0;
      return now >= oldest ? flag : withState(flag, place.environment, record);
    });
  }
}

/** Whether a change is made now, and not proposed. */
function isMadeNow({ wish }: StateChange): boolean {
  return wish === undefined || wish === 'emergency';
}

/** The state on the screen was never written, so a change of it has nothing to start from. */
class Overtaken extends Error {}

/** The record that a change begins from. Where it was still being written, it is the server's, which is known by now. */
function beginningOf({ before }: StateChange): StateRecord | undefined {
  const said = saidOf(before);
  if (before !== undefined && said === undefined) throw new Overtaken();
  return said;
}

/** A state before and after a write, and the number of the change. */
interface Written {
  readonly before: StateRecord | undefined;
  readonly record: StateRecord | undefined;
  readonly revision: number | undefined;
  readonly seq: number | undefined;
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

/** What was done. Of a long value that alone is new, only that. */
function titleOf(
  key: string,
  environment: string,
  { before, after }: Pick<Written, 'before'> & { readonly after: FlagState | null },
): string {
  const [old, isLong] = [before?.state, (JSON.stringify(after?.value) ?? '').length > LONG_VALUE];
  const isSameElse = after?.enabled === old?.enabled && after?.rolloutPct === old?.rolloutPct;
  return old !== undefined && isLong && isSameElse
    ? messages.valueSaved(key, environment)
    : messages.stateIs(key, outcomeText(before, after), environment);
}

/** The outcome in as few words as possible. A value that is too long is only called new, or left out if it is not new. */
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

function recordOf({ state, revision, updatedAt, updatedBy, valueName }: StateRecord): StateRecord {
  return { state, revision, updatedAt, ...defined({ updatedBy, valueName }) };
}

/** The person at this screen, as the server will name them. */
function authorOf(queries: QueryClient): Pick<StateRecord, 'updatedBy'> {
  const operator = queries.getQueryData<SessionRecord>(queryKeys.session)?.operator;
  return operator === undefined ? {} : { updatedBy: `operator:${operator.email}` };
}

/**
 * Changes a state: asks for consent if the environment is protected, shows both versions on a conflict, and offers to undo.
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
      return consent === undefined ? 'cancelled' : write({ ...change, ...defined(consent) });
    },
    [project, askConsent, write],
  );
}
