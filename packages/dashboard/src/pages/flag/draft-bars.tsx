import { useCallback, useDeferredValue, useId, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { usePersonName } from '../../api/operators.ts';
import type { EnvironmentRecord, FlagState, StateRecord } from '../../api/types.ts';
import { messages as stateMessages } from '../../changes/dialog-messages.ts';
import { NOTE_LENGTH } from '../../changes/note-field.tsx';
import { FieldDiff } from '../../components/audit/field-diff.tsx';
import { StateDiff } from '../../components/audit/state-diff.tsx';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { clearOfBar } from '../../components/bottom-bar.ts';
import { Button } from '../../components/button.tsx';
import { INPUT } from '../../components/field.tsx';
import { StateSummary } from '../../components/state-summary.tsx';
import { ScrollRegion } from '../../components/tables.tsx';
import { rowHead } from './environment-row.tsx';
import { messages } from './messages.tsx';
import { isSound, type StateDraft, stateOf } from './state-draft.ts';

const words = messages.draft;

/** What saving a draft changes, old and new side by side. */
export function DraftDiff({ before, draft }: { before: FlagState | undefined; draft: StateDraft }) {
  // Comparing a long value must not hold up typing.
  const latest = useDeferredValue(draft);
  // A deferred draft may be an older one with a problem.
  if (!isSound(latest)) return null;
  const { state } = stateOf(latest, before?.enabled ?? false);
  return (
    <section aria-label={words.diff} className="border-t border-line px-4 py-3">
      <FieldDiff before={before} after={state} />
    </section>
  );
}

/**
 * Holds the bars of unsaved drafts at the foot of the window, wherever the page is scrolled; in a very low window, which they would
 * fill, at the end of the page. `onHost` gets the element that they are in.
 */
export function DraftBars({ onHost }: { onHost: (host: HTMLElement | null) => void }) {
  const ref = useCallback(
    (host: HTMLElement | null) => {
      onHost(host);
      const leave = clearOfBar(host);
      return () => {
        leave?.();
        onHost(null);
      };
    },
    [onHost],
  );

  return (
    <div
      ref={ref}
      className="sticky bottom-0 z-20 -mx-4 mt-4 divide-y divide-line border-t border-line bg-raised shadow-pop empty:hidden sm:-mx-6 [@media(max-height:20rem)]:static"
    />
  );
}

/** A draft in the bar at the foot of the window: the reason, and the actions on it. */
export function SaveBar({
  host,
  environment,
  note,
  problem,
  isSaving,
  onNote,
  onSave,
  onDiscard,
  onSchedule,
}: {
  host: HTMLElement;
  environment: EnvironmentRecord;
  note: string;
  /** Why the draft cannot be saved: its field may be out of view. */
  problem: string | undefined;
  isSaving: boolean;
  onNote: (note: string) => void;
  onSave: () => void;
  onDiscard: () => void;
  onSchedule: () => void;
}) {
  const { name, reasonRequired } = environment;
  const isMissing = reasonRequired && note.trim() === '';
  const canSave = problem === undefined;
  const id = useId();
  const reason = useRef<HTMLInputElement>(null);
  const [isTried, setTried] = useState(false);

  return createPortal(
    <form
      data-bottom-bar
      // After saving, the focus returns to the environment that was edited.
      data-home={rowHead(name)}
      aria-label={words.bar(name)}
      className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-2 sm:px-6"
      onSubmit={(event) => {
        event.preventDefault();
        setTried(isMissing);
        if (isMissing) reason.current?.focus();
        else onSave();
      }}
    >
      <p className="flex min-w-0 items-center gap-1.5 text-ink-2">
        {words.unsaved} <EnvironmentBadge environment={environment} className="font-medium text-ink" />
      </p>

      <input
        ref={reason}
        aria-label={words.reason(name)}
        aria-required={reasonRequired}
        aria-invalid={(isTried && isMissing) || undefined}
        placeholder={reasonRequired ? words.reasonNeeded : words.reasonHint}
        className={`${INPUT} flex-1 basis-48`}
        maxLength={NOTE_LENGTH}
        autoComplete="off"
        value={note}
        onChange={(event) => onNote(event.target.value)}
      />

      {!canSave && (
        <p id={id} className="max-w-full min-w-0 text-xs wrap-anywhere text-danger">
          {problem}
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        <Button onClick={onDiscard}>{words.discard}</Button>
        <Button disabled={!canSave} onClick={onSchedule}>
          {words.schedule}
        </Button>
        <Button
          type="submit"
          kind="primary"
          disabled={!canSave || isSaving}
          aria-describedby={canSave ? undefined : id}
        >
          {isSaving ? words.saving : words.save(name)}
        </Button>
      </div>
    </form>,
    host,
  );
}

/** Warns that the edited state has a newer version. The draft is kept until the person decides. */
export function OvertakenBanner({
  before,
  record,
  by,
  onDiscard,
  onKeep,
}: {
  /** The state that the draft began with. */
  before: FlagState | undefined;
  /** The state in effect. */
  record: StateRecord | undefined;
  /** The actor of the newer version, if known. */
  by: string | undefined;
  onDiscard: () => void;
  onKeep: () => void;
}) {
  const [isShown, setShown] = useState(false);
  const id = useId();
  const author = usePersonName();
  const who = by === undefined ? undefined : author(by);

  return (
    <div role="alert" className="border-t border-line bg-warn-soft px-4 py-2.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <p className="flex min-w-0 flex-1 basis-64 flex-wrap items-center gap-x-1.5 gap-y-1 text-warn">
          <span className="min-w-0 break-words" title={who?.detail}>
            {who?.isSelf ? words.self : (who?.name ?? words.someone)} {words.overtaken}
          </span>
          <StateSummary state={record?.state} />
        </p>

        <div className="flex flex-wrap gap-2">
          <Button aria-expanded={isShown} aria-controls={id} onClick={() => setShown(!isShown)}>
            {isShown ? words.hideTheirs : words.showTheirs}
          </Button>
          <Button onClick={onDiscard}>{words.discardMine}</Button>
          <Button onClick={onKeep}>{words.keepEditing}</Button>
        </div>
      </div>

      <div id={id} hidden={!isShown} className="mt-2 rounded-md border border-line bg-surface px-3 pb-3">
        <section aria-label={words.theirChange} className="mt-2">
          <p className="mb-1 text-xs font-medium text-ink-2">{words.theirChange}</p>
          <StateDiff before={before} after={record?.state} />
        </section>

        <p className="mt-2 border-t border-line pt-2 text-xs font-medium text-ink-2">{words.inEffect}</p>
        <ScrollRegion label={words.inEffect} className="mt-1 max-h-60 overflow-auto">
          <pre className="font-mono text-xs whitespace-pre-wrap wrap-anywhere">
            {record === undefined ? stateMessages.notSet : JSON.stringify(record.state, undefined, 2)}
          </pre>
        </ScrollRegion>
      </div>
    </div>
  );
}

/** Warns that the flag was archived while its draft was open. The draft is kept. */
export function ArchivedDraft({ onDiscard }: { onDiscard: () => void }) {
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-x-3 gap-y-2 border-t border-line bg-warn-soft px-4 py-2.5"
    >
      <p className="min-w-0 flex-1 basis-64 text-warn">{words.archived}</p>
      <Button onClick={onDiscard}>{words.discard}</Button>
    </div>
  );
}
