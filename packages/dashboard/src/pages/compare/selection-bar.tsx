import type { EnvironmentRecord } from '../../api/types.ts';
import { Button } from '../../components/button.tsx';

/** What can be done with the flags that are selected. */
export function SelectionBar({
  count,
  to,
  onClear,
  onCopy,
}: {
  count: number;
  to: EnvironmentRecord;
  onClear: () => void;
  onCopy: () => void;
}) {
  return (
    <div
      data-bottom-bar
      className="sticky bottom-3 z-10 mt-3 flex animate-enter flex-wrap items-center gap-2 rounded-lg border border-line bg-raised p-2 pl-4 shadow-pop"
    >
      <span className="mr-auto font-medium">{count} selected</span>
      <Button kind="quiet" onClick={onClear}>
        Clear
      </Button>
      <Button kind="primary" onClick={onCopy}>
        Copy to {to.name}…
      </Button>
    </div>
  );
}
