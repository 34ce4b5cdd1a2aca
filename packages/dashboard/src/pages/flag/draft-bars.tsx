import { useId, useState } from 'react';
import { usePersonName } from '../../api/operators.ts';
import type { EnvironmentRecord, StateRecord } from '../../api/types.ts';
import { StateJson } from '../../changes/conflict-dialog.tsx';
import { Button } from '../../components/button.tsx';
import { INPUT } from '../../components/field.tsx';
import { StateSummary } from '../../components/state-summary.tsx';

/** What stands below an edited state: why, and what to do with it. */
export function SaveBar({
  environment: { name },
  note,
  isSound,
  isSaving,
  onNote,
  onSave,
  onDiscard,
  onSchedule,
}: {
  environment: EnvironmentRecord;
  note: string;
  /** Whether the draft can be saved. */
  isSound: boolean;
  isSaving: boolean;
  onNote: (note: string) => void;
  onSave: () => void;
  onDiscard: () => void;
  onSchedule: () => void;
}) {
  return (
    <form
      className="flex flex-wrap items-center gap-2 border-t border-line bg-accent-soft px-4 py-2.5"
      onSubmit={(event) => {
        event.preventDefault();
        onSave();
      }}
    >
      <input
        aria-label={`Why, for ${name}`}
        placeholder="Why? Goes into the history (optional)"
        className={`${INPUT} flex-1 basis-48`}
        maxLength={1000}
        autoComplete="off"
        value={note}
        onChange={(event) => onNote(event.target.value)}
      />
      <div className="flex flex-wrap gap-2">
        <Button onClick={onDiscard}>Discard</Button>
        <Button disabled={!isSound} onClick={onSchedule}>
          Schedule…
        </Button>
        <Button type="submit" kind="primary" disabled={!isSound || isSaving}>
          {isSaving ? 'Saving…' : `Save in ${name}`}
        </Button>
      </div>
    </form>
  );
}

/** Says that the state being edited was changed elsewhere; nothing typed is lost without a decision. */
export function OvertakenBanner({
  record,
  by,
  onDiscard,
  onKeep,
}: {
  /** What is in effect now. */
  record: StateRecord | undefined;
  /** Who changed it, where that is known. */
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
            {/* A change of this tab is never "theirs". */}
            {who?.isSelf ? 'You, in another tab,' : (who?.name ?? 'Someone')} changed this while you were
            editing. In effect now:
          </span>
          <StateSummary state={record?.state} />
        </p>
        <div className="flex flex-wrap gap-2">
          <Button aria-expanded={isShown} aria-controls={id} onClick={() => setShown(!isShown)}>
            {isShown ? 'Hide theirs' : 'Show theirs'}
          </Button>
          <Button onClick={onDiscard}>Discard mine</Button>
          <Button onClick={onKeep}>Keep editing</Button>
        </div>
      </div>
      <div id={id} hidden={!isShown} className="mt-2 rounded-md border border-line bg-surface px-3 pb-3">
        <StateJson label="In effect now" state={record?.state} />
      </div>
    </div>
  );
}

/** Tells who is editing that somebody has archived the flag meanwhile: what was typed stays, to be copied or kept. */
export function ArchivedDraft({ onDiscard }: { onDiscard: () => void }) {
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-x-3 gap-y-2 border-t border-line bg-warn-soft px-4 py-2.5"
    >
      <p className="min-w-0 flex-1 basis-64 text-warn">
        The flag was archived while you were editing. What you typed is kept here, and can be saved once the
        flag is restored.
      </p>
      <Button onClick={onDiscard}>Discard</Button>
    </div>
  );
}
