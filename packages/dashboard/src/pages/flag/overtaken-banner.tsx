import type { StateRecord } from '../../api/types.ts';
import { actorText } from '../../components/audit/deed-text.ts';
import { Button } from '../../components/button.tsx';
import { StateSummary } from '../../components/state-summary.tsx';

/** Tells who is editing that somebody else has changed the same; nothing typed is lost without a decision. */
export function OvertakenBanner({
  record,
  by,
  onTake,
  onKeep,
}: {
  /** What is in effect now. */
  record: StateRecord | undefined;
  /** Who changed it, where that is known. */
  by: string | undefined;
  onTake: () => void;
  onKeep: () => void;
}) {
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-x-3 gap-y-2 border-t border-line bg-warn-soft px-4 py-2.5"
    >
      <p className="flex min-w-0 flex-1 basis-64 flex-wrap items-center gap-x-1.5 gap-y-1 text-warn">
        <span>
          {by === undefined ? 'Somebody' : <span className="break-all">{actorText(by)}</span>} changed this
          while you were editing. In effect now:
        </span>
        <StateSummary state={record?.state} />
      </p>
      <div className="flex flex-wrap gap-2">
        <Button onClick={onTake}>Show theirs</Button>
        <Button onClick={onKeep}>Keep editing mine</Button>
      </div>
    </div>
  );
}
