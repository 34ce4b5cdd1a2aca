import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { StateDifference } from '../../api/compare.ts';
import type { EnvironmentRecord } from '../../api/types.ts';
import { classNames } from '../../components/class-names.ts';
import { EnvironmentBadge } from '../../components/environment-badge.tsx';
import { differingFields, STATE_FIELD_NAMES } from '../../components/state-fields.ts';
import { StateSummary } from '../../components/state-summary.tsx';
import { links } from '../../shell/links.ts';
import { COLUMNS } from './columns.ts';

/** One flag in both environments. `isChosen` is `undefined` where nothing can be selected. */
export function DifferenceRow({
  difference: { key, from: fromState, to: toState },
  project,
  from,
  to,
  isChosen,
  onChoose,
}: {
  difference: StateDifference;
  project: string;
  from: EnvironmentRecord;
  to: EnvironmentRecord;
  isChosen: boolean | undefined;
  onChoose: (isChosen: boolean) => void;
}) {
  return (
    <li
      className={classNames(
        'grid min-h-11 grid-cols-[2rem_1fr] items-center gap-x-3 gap-y-1.5 border-t border-line px-3 py-2 hover:bg-hover sm:py-1.5',
        COLUMNS,
        isChosen && 'bg-accent-soft',
      )}
    >
      <span className="flex self-center">
        {isChosen !== undefined && (
          <input
            type="checkbox"
            aria-label={`Select ${key}`}
            className="m-1 size-4 accent-accent"
            checked={isChosen}
            onChange={(event) => onChoose(event.target.checked)}
          />
        )}
      </span>
      <span className="min-w-0">
        <Link href={links.flag(project, key)} className="font-mono text-xs break-all hover:underline">
          {key}
        </Link>
        {fromState === undefined && (
          <span className="block text-xs text-danger">
            {from.name} lacks it: copying removes it from {to.name}
          </span>
        )}
      </span>
      <Cell environment={from}>
        <StateSummary state={fromState} />
      </Cell>
      <Cell environment={to}>
        <StateSummary state={toState} />
      </Cell>
      <span className="text-xs text-ink-2 max-sm:col-start-2">
        <span className="sm:sr-only">Differs in: </span>
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
