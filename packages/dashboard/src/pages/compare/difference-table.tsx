import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { EnvironmentRecord, StateDifference } from '../../api/types.ts';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { Checkbox } from '../../components/checkbox.tsx';
import { classNames } from '../../components/class-names.ts';
import { differingFields, STATE_FIELD_NAMES, StateSummary } from '../../components/state-summary.tsx';
import { links } from '../../shell/links.ts';
import { messages } from './messages.tsx';

/** How many rows are shown at first, and added by each "Show more". */
const STEP = 200;

/** The differences, one row each. Without `selected` nothing can be selected. */
export function DifferenceTable({
  differences,
  project,
  from,
  to,
  selected,
  onSelect,
  onClearFilters,
}: {
  differences: readonly StateDifference[];
  project: string;
  from: EnvironmentRecord;
  to: EnvironmentRecord;
  selected: ReadonlySet<string> | undefined;
  onSelect: (selected: ReadonlySet<string>) => void;
  onClearFilters: () => void;
}) {
  const [most, setMost] = useState(STEP);
  if (differences.length === 0)
    return (
      <div className="rounded-lg border border-line bg-surface px-4 py-10 text-center text-ink-2">
        <p className="mb-3">{messages.noMatches}</p>
        <Button onClick={onClearFilters}>{messages.clearFilters}</Button>
      </div>
    );
  // Copying a flag that `from` lacks removes it, so such flags are only selected one by one.
  const copyable = differences.filter((each) => each.from !== undefined).map(({ key }) => key);
  const areAllSelected = copyable.length > 0 && copyable.every((key) => selected?.has(key));
  return (
    <div className="rounded-lg border border-line bg-surface">
      <div
        className={classNames(
          'grid h-9 grid-cols-[2rem_1fr_auto] items-center gap-x-3 px-3 text-xs font-medium text-ink-3',
          COLUMNS,
        )}
      >
        <span className="flex">
          {selected && (
            <Checkbox
              label={messages.selectAll(copyable.length, from.name)}
              isChecked={areAllSelected}
              onChange={() => onSelect(areAllSelected ? new Set() : new Set([...selected, ...copyable]))}
            />
          )}
        </span>
        <span>{messages.flag}</span>
        <EnvironmentBadge environment={from} className="max-sm:hidden" />
        <EnvironmentBadge environment={to} className="max-sm:hidden" />
        <span className="max-sm:hidden">{messages.differsIn}</span>
      </div>
      <ul aria-label={messages.differences}>
        {differences.slice(0, most).map((difference) => (
          <DifferenceRow
            key={difference.key}
            {...{ difference, project, from, to }}
            isSelected={selected?.has(difference.key)}
            onSelect={(isSelected) => {
              const next = new Set(selected);
              if (isSelected) next.add(difference.key);
              else next.delete(difference.key);
              onSelect(next);
            }}
          />
        ))}
      </ul>
      {differences.length > most && (
        <div className="border-t border-line p-2 text-center">
          <Button kind="quiet" onClick={() => setMost(most + STEP)}>
            {messages.showMore(differences.length - most)}
          </Button>
        </div>
      )}
    </div>
  );
}

/** One flag in both environments. `isSelected` is `undefined` where nothing can be selected. */
function DifferenceRow({
  difference: { key, from: fromState, to: toState },
  project,
  from,
  to,
  isSelected,
  onSelect,
}: {
  difference: StateDifference;
  project: string;
  from: EnvironmentRecord;
  to: EnvironmentRecord;
  isSelected: boolean | undefined;
  onSelect: (isSelected: boolean) => void;
}) {
  return (
    <li
      className={classNames(
        'grid min-h-11 grid-cols-[2rem_1fr] items-center gap-x-3 gap-y-1.5 border-t border-line px-3 py-2 hover:bg-hover sm:py-1.5',
        COLUMNS,
        isSelected && 'bg-accent-soft',
      )}
    >
      <span className="flex self-center">
        {isSelected !== undefined && (
          <Checkbox
            label={messages.select(key)}
            isChecked={isSelected}
            onChange={() => onSelect(!isSelected)}
          />
        )}
      </span>
      <span className="min-w-0">
        <Link href={links.flag(project, key)} className="font-mono text-xs break-all hover:underline">
          {key}
        </Link>
        {fromState === undefined && (
          <span className="block text-xs text-danger">{messages.missing(from.name, to.name)}</span>
        )}
      </span>
      <Cell environment={from}>
        <StateSummary state={fromState} />
      </Cell>
      <Cell environment={to}>
        <StateSummary state={toState} />
      </Cell>
      <span className="text-xs text-ink-2 max-sm:col-start-2">
        <span className="sm:sr-only">{messages.differsIn}: </span>
        {differingFields(fromState, toState)
          .map((field) => STATE_FIELD_NAMES[field])
          .join(', ')}
      </span>
    </li>
  );
}

function Cell({ environment, children }: { environment: EnvironmentRecord; children: ReactNode }) {
  return (
    <span className="flex min-w-0 items-center gap-2 max-sm:col-start-2">
      <EnvironmentBadge
        environment={environment}
        className="shrink-0 text-xs text-ink-2 max-sm:w-28 sm:sr-only"
      />
      {children}
    </span>
  );
}

/** The columns of the table of differences; on a narrow screen a row is a small block instead. */
const COLUMNS = 'sm:grid-cols-[2rem_minmax(9rem,1.2fr)_minmax(7rem,1fr)_minmax(7rem,1fr)_7rem]';
