import { memo } from 'react';
import type { DeliveryRecord, EnvironmentRecord } from '../../api/types.ts';
import { AuditEntryRow } from '../../components/audit/audit-entry-row.tsx';
import { mayBeReverted } from '../../components/audit/deed-text.ts';
import { classNames } from '../../components/class-names.ts';
import { DeliveryFigure } from './delivery-figure.tsx';
import type { Change } from './group-changes.ts';
import { ManyDeeds } from './many-deeds.tsx';

/** One change of the timeline: what it did, how far it came, and the way back. */
export const ChangeItem = memo(function ChangeItem({
  change,
  environments,
  delivery,
  isFresh,
  showsProject,
  onRevert,
}: {
  change: Change;
  environments: readonly EnvironmentRecord[];
  delivery: DeliveryRecord | undefined;
  /** It came while the screen was open. */
  isFresh: boolean;
  showsProject: boolean;
  /** Absent for people who may not. */
  onRevert: ((change: Change) => void) | undefined;
}) {
  const { seq, entries, first } = change;
  const canRevert =
    onRevert !== undefined &&
    first.project !== undefined &&
    entries.some(({ action }) => mayBeReverted(action));
  const revert = canRevert ? () => onRevert(change) : undefined;
  const figure = (
    <DeliveryFigure
      seq={seq}
      delivery={delivery}
      project={showsProject ? first.project : undefined}
      isChange={entries.some(({ action }) => action !== 'session.started' && action !== 'session.ended')}
    />
  );
  return (
    <li className={classNames('border-t border-line first:border-t-0', isFresh && 'animate-flash')}>
      {entries.length === 1 ? (
        <AuditEntryRow entry={first} environments={environments} onRevert={revert}>
          {figure}
        </AuditEntryRow>
      ) : (
        <ManyDeeds change={change} environments={environments} onRevert={revert}>
          {figure}
        </ManyDeeds>
      )}
    </li>
  );
});
