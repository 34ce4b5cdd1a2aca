import Check from 'lucide-react/icons/check';
import CircleAlert from 'lucide-react/icons/circle-alert';
import LoaderCircle from 'lucide-react/icons/loader-circle';
import type { WriteStatus } from '../api/own-writes.ts';

/** How a write stands, beside what was written. Takes the same room when there is nothing to say. */
export function WriteMark({ status }: { status: WriteStatus | undefined }) {
  return (
    <span className="inline-flex size-3.5 shrink-0" data-write={status}>
      {status === 'saving' && (
        <LoaderCircle size={14} className="animate-turn text-ink-3" role="img" aria-label="saving" />
      )}
      {status === 'saved' && <Check size={14} className="text-good" role="img" aria-label="saved" />}
      {status === 'failed' && (
        <CircleAlert size={14} className="text-danger" role="img" aria-label="failed" />
      )}
    </span>
  );
}
