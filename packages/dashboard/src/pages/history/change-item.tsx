import { memo, type ReactNode, useState } from 'react';
import type { AuditEntryRecord, DeliveryRecord, EnvironmentRecord } from '../../api/types.ts';
import { actionText, hasVersions, isRevertible } from '../../components/audit/action-text.ts';
import {
  AuditEntryRow,
  EntryPlace,
  EntryTarget,
  RevertButton,
} from '../../components/audit/audit-entry-row.tsx';
import { FieldDiff } from '../../components/audit/field-diff.tsx';
import { Author } from '../../components/badges.tsx';
import { classNames } from '../../components/class-names.ts';
import { deliveryText } from '../../components/delivery-proof.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import type { Change } from './group-changes.ts';
import { messages } from './messages.ts';

/** One change of the timeline: what it did, how far it came, and a button to revert it. */
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
  /** Whether it arrived while the screen was open. */
  isFresh: boolean;
  showsProject: boolean;
  /** Absent for people without permission. */
  onRevert: ((change: Change) => void) | undefined;
}) {
  const { seq, entries, first } = change;
  const canRevert =
    onRevert !== undefined &&
    first.project !== undefined &&
    entries.some(({ action }) => isRevertible(action));
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
        <ChangeEntries change={change} environments={environments} onRevert={revert}>
          {figure}
        </ChangeEntries>
      )}
    </li>
  );
});

/** How many entries of one change are shown before "Show all". */
const FEW = 4;

/** A change with several entries: author, place and note once, then what was done, one below the other. */
function ChangeEntries({
  change: { seq, entries, first },
  environments,
  onRevert,
  children,
}: {
  change: Change;
  environments: readonly EnvironmentRecord[];
  onRevert: (() => void) | undefined;
  children?: ReactNode;
}) {
  const [isWhole, setWhole] = useState(false);
  const places = [...new Set(entries.map(({ environment }) => environment))].filter(
    (name) => name !== undefined,
  );
  const isOneFlag = flagsOf(entries).size === 1;
  // Changes are listed newest first, but the entries of one in the order in which they happened.
  const listed = entries.toReversed();
  return (
    <div className="flex items-start gap-3 px-3 py-2.5" data-seq={seq}>
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-baseline gap-x-1.5">
          <Author actor={first.actor} className="font-medium" />
          <span className="text-ink-2">{summaryOf(entries)}</span>
          {isOneFlag && <EntryTarget entry={first} />}
          {places.length === 1 && <EntryPlace name={places[0] ?? ''} environments={environments} />}
          <TimeAgo at={first.at} className="text-xs whitespace-nowrap text-ink-3" />
        </p>
        {first.note !== undefined && <p className="mt-0.5 break-words text-ink-2">“{first.note}”</p>}
        <ul className="mt-1.5 space-y-1.5 border-l-2 border-line pl-3">
          {(isWhole ? listed : listed.slice(0, FEW)).map((entry) => (
            <li key={entry.id}>
              <p className="flex flex-wrap items-baseline gap-x-1.5">
                <span className="text-xs text-ink-2">{actionText(entry.action, entry)}</span>
                {!isOneFlag && <EntryTarget entry={entry} />}
                {places.length > 1 && entry.environment !== undefined && (
                  <EntryPlace name={entry.environment} environments={environments} />
                )}
              </p>
              {hasVersions(entry.action, entry) && <FieldDiff before={entry.before} after={entry.after} />}
            </li>
          ))}
        </ul>
        {entries.length > FEW && (
          <button
            type="button"
            aria-expanded={isWhole}
            className="mt-1 min-h-6 text-xs text-accent hover:underline"
            onClick={() => setWhole(!isWhole)}
          >
            {isWhole ? messages.showFewer : messages.showAll(entries.length)}
          </button>
        )}
        {children}
      </div>
      <RevertButton seq={seq} onRevert={onRevert} />
    </div>
  );
}

function flagsOf(entries: readonly AuditEntryRecord[]): ReadonlySet<string> {
  return new Set(entries.filter(({ action }) => action.startsWith('flag.')).map(({ target }) => target));
}

function summaryOf(entries: readonly AuditEntryRecord[]): string {
  const flags = flagsOf(entries);
  if (flags.size > 1) return messages.changedFlags(flags.size);
  if (flags.size === 0) return messages.madeChanges(entries.length);
  const lead = entries.find(({ action }) => action.startsWith('flag.') && action !== 'flag.changed');
  return lead === undefined ? messages.changedFlag : actionText(lead.action, lead);
}

/** The small line below a change: its number, its project on the screen of all, and how far it came. */
function DeliveryFigure({
  seq,
  delivery,
  project,
  isChange,
}: {
  seq: number;
  delivery: DeliveryRecord | undefined;
  project: string | undefined;
  isChange: boolean;
}) {
  const parts = [
    ...(project === undefined ? [] : [messages.project(project)]),
    ...(isChange ? [messages.change(seq)] : []),
    ...(delivery === undefined || delivery.streams === 0 ? [] : [deliveryText(delivery)]),
  ];
  return parts.length === 0 ? null : <p className="mt-1 text-xs text-ink-3">{parts.join(' · ')}</p>;
}
