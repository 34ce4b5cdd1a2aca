import { useState } from 'react';
import type { StateDifference } from '../../api/compare.ts';
import type { EnvironmentRecord } from '../../api/types.ts';
import { Button } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { EnvironmentBadge } from '../../components/environment-badge.tsx';
import { COLUMNS } from './columns.ts';
import { DifferenceRow } from './difference-row.tsx';

/** As many rows are drawn at first, and more on demand: nobody reads ten thousand. */
const STEP = 200;

/** The differences, one row each. Without `chosen` nothing can be selected. */
export function DifferenceTable({
  differences,
  project,
  from,
  to,
  chosen,
  onChoose,
}: {
  differences: readonly StateDifference[];
  project: string;
  from: EnvironmentRecord;
  to: EnvironmentRecord;
  chosen: ReadonlySet<string> | undefined;
  onChoose: (chosen: ReadonlySet<string>) => void;
}) {
  const [most, setMost] = useState(STEP);
  if (differences.length === 0)
    return (
      <p className="rounded-lg border border-line bg-surface px-4 py-10 text-center text-ink-2">
        No difference matches the filter.
      </p>
    );
  // A flag that `from` lacks would be removed: that is chosen one by one only.
  const copyable = differences.filter((each) => each.from !== undefined).map(({ key }) => key);
  const areAllChosen = copyable.length > 0 && copyable.every((key) => chosen?.has(key));
  return (
    <div className="rounded-lg border border-line bg-surface">
      <div
        className={classNames(
          'grid h-9 grid-cols-[2rem_1fr_auto] items-center gap-x-3 px-3 text-xs font-medium text-ink-3',
          COLUMNS,
        )}
      >
        <span className="flex">
          {chosen && (
            <input
              type="checkbox"
              aria-label={`Select all ${copyable.length} flags that ${from.name} has`}
              className="m-1 size-4 accent-accent"
              checked={areAllChosen}
              onChange={() => onChoose(areAllChosen ? new Set() : new Set([...chosen, ...copyable]))}
            />
          )}
        </span>
        <span>Flag</span>
        <EnvironmentBadge environment={from} className="max-sm:hidden" />
        <EnvironmentBadge environment={to} className="max-sm:hidden" />
        <span className="max-sm:hidden">Differs in</span>
      </div>
      <ul aria-label="Differences">
        {differences.slice(0, most).map((difference) => (
          <DifferenceRow
            key={difference.key}
            {...{ difference, project, from, to }}
            isChosen={chosen?.has(difference.key)}
            onChoose={(isChosen) => {
              const next = new Set(chosen);
              if (isChosen) next.add(difference.key);
              else next.delete(difference.key);
              onChoose(next);
            }}
          />
        ))}
      </ul>
      {differences.length > most && (
        <div className="border-t border-line p-2 text-center">
          <Button kind="quiet" onClick={() => setMost(most + STEP)}>
            Show more ({differences.length - most} left)
          </Button>
        </div>
      )}
    </div>
  );
}
