import type { EnvironmentRecord } from '../../api/types.ts';
import { Button } from '../../components/button.tsx';
import { INPUT } from '../../components/field.tsx';

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
