import { useState } from 'react';
import { Link } from 'wouter';
import type { EnvironmentRecord, StateDifference } from '../../api/types.ts';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { Checkbox } from '../../components/checkbox.tsx';
import { CheckField } from '../../components/field.tsx';
import { differingFields, STATE_FIELD_NAMES, StateSummary } from '../../components/state-summary.tsx';
import { RecordCell, RecordHead, RecordRow, RecordTable } from '../../components/tables.tsx';
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
    <>
      {selected !== undefined && (
        <div className="mb-2 px-5">
          <CheckField
            label={messages.selectAll(copyable.length, from.name)}
            isChecked={areAllSelected}
            onChange={() => onSelect(areAllSelected ? new Set() : new Set([...selected, ...copyable]))}
          />
        </div>
      )}
      <RecordTable
        label={messages.differences}
        columns={[
          { label: messages.flag },
          { label: from.name, head: <EnvironmentBadge environment={from} /> },
          { label: to.name, head: <EnvironmentBadge environment={to} /> },
          { label: messages.differsIn },
        ]}
      >
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
      </RecordTable>
      {differences.length > most && (
        <div className="p-2 text-center">
          <Button kind="quiet" onClick={() => setMost(most + STEP)}>
            {messages.showMore(differences.length - most)}
          </Button>
        </div>
      )}
    </>
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
    <RecordRow isSelected={isSelected ?? false}>
      <RecordHead>
        <span className="flex min-w-0 items-center gap-3">
          {isSelected !== undefined && (
            <Checkbox
              label={messages.select(key)}
              isChecked={isSelected}
              onChange={() => onSelect(!isSelected)}
            />
          )}
          <span className="min-w-0">
            <Link href={links.flag(project, key)} className="font-mono text-xs break-all hover:underline">
              {key}
            </Link>
            {fromState === undefined && (
              <span className="block text-xs text-danger">{messages.missing(from.name, to.name)}</span>
            )}
          </span>
        </span>
      </RecordHead>
      <RecordCell label={from.name}>
        <StateSummary state={fromState} />
      </RecordCell>
      <RecordCell label={to.name}>
        <StateSummary state={toState} />
      </RecordCell>
      <RecordCell label={messages.differsIn} className="text-xs text-ink-2">
        {differingFields(fromState, toState)
          .map((field) => STATE_FIELD_NAMES[field])
          .join(', ')}
      </RecordCell>
    </RecordRow>
  );
}
