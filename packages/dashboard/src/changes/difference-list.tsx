import ArrowRight from 'lucide-react/icons/arrow-right';
import { useState } from 'react';
import type { FlagState } from '../api/types.ts';
import { Button } from '../components/button.tsx';
import { ScrollRegion } from '../components/scroll-region.tsx';
import { StateSummary } from '../components/state-summary.tsx';

/** A flag's state before and after. */
export interface Difference {
  readonly key: string;
  readonly before?: FlagState | null | undefined;
  readonly after?: FlagState | null | undefined;
}

/** As many are drawn at first. */
const FIRST = 50;

/** What a change does, flag by flag. */
export function DifferenceList({
  differences,
  label,
}: {
  differences: readonly Difference[];
  label: string;
}) {
  const [most, setMost] = useState(FIRST);
  return (
    <ScrollRegion label={label} className="max-h-[40vh] overflow-y-auto rounded-md border border-line">
      <ul className="divide-y divide-line">
        {differences.slice(0, most).map(({ key, before, after }) => (
          <li key={key} className="px-3 py-2">
            <p className="font-mono text-xs break-all">{key}</p>
            <p className="mt-0.5 flex flex-wrap items-center gap-x-2 gap-y-1">
              <StateSummary state={before} />
              <ArrowRight size={13} aria-label="becomes" role="img" className="text-ink-3" />
              {after === undefined || after === null ? (
                <strong className="font-medium text-danger">removed</strong>
              ) : (
                <StateSummary state={after} />
              )}
            </p>
          </li>
        ))}
      </ul>
      {differences.length > most && (
        <div className="border-t border-line p-2 text-center">
          <Button kind="quiet" onClick={() => setMost(differences.length)}>
            Show {differences.length - most} more
          </Button>
        </div>
      )}
    </ScrollRegion>
  );
}
