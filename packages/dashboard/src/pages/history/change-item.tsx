import { memo, useState } from 'react';
import { Link } from 'wouter';
import { useProjectDeliveries } from '../../api/clients.ts';
import { usePersonName } from '../../api/operators.ts';
import type { AuditEntryRecord } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { hasVersions, offersRevert, shownEntries, verbAlone } from '../../components/audit/action-text.ts';
import {
  AuditEntryRow,
  ChangeRow,
  DetailText,
  EntryPlace,
  EntryTarget,
  FlagLink,
  type RowFrame,
} from '../../components/audit/audit-entry-row.tsx';
import { changeWords, type NameOf, netDetails } from '../../components/audit/change-words.ts';
import { FieldDiff } from '../../components/audit/field-diff.tsx';
import { LineDelivery } from '../../components/audit/line-delivery.tsx';
import { useToggled } from '../../components/audit/toggled-rows.ts';
import { classNames } from '../../components/class-names.ts';
import { CopyButton } from '../../components/copy.tsx';
import { deliveryText, sumOf } from '../../components/delivery-proof.tsx';
import { FoldButton } from '../../components/fold-button.tsx';
import { fullTime } from '../../components/time-ago.tsx';
import { flagsOf, placesOf, summaryOf } from './change-summary.ts';
import type { Burst, Change } from './group-changes.ts';
import { messages } from './messages.ts';
import { Parts } from './near-screen.tsx';
import { ProposalMark } from './proposal-mark.tsx';

/** What the rows of a list share. */
export interface ListFacts {
  readonly showsProject: boolean;
  /** Whether a change arrived while the screen was open. */
  readonly isFresh: (seq: number) => boolean;
  /** Absent for people without permission. */
  readonly onRevert: ((change: Change) => void) | undefined;
}

/** A change, or a burst of them on one line. */
export const BurstItem = memo(function BurstItem({ burst, list }: { burst: Burst; list: ListFacts }) {
  const { changes, newest } = burst;
  return (
    <li
      className={classNames(
        'border-t border-line first:border-t-0',
        list.isFresh(newest.seq) && 'animate-flash',
      )}
    >
      {changes.length === 1 ? (
        <ChangeItem change={newest} list={list} />
      ) : (
        <BurstRow burst={burst} list={list} />
      )}
    </li>
  );
});

/** One change: what it did, how far it came, and a button to revert it. */
export function ChangeItem({
  change,
  list,
  isOpenAtFirst = false,
}: {
  change: Change;
  list: ListFacts;
  isOpenAtFirst?: boolean;
}) {
  const shown = shownEntries(change.entries);
  const made = shown.filter(({ action }) => !action.startsWith('proposal.'));
  // What a proposal did says more than that it was applied; its mark says that.
  const entries = made.length === 0 ? shown : made;
  const [only = change.first] = entries;
  const first = made.length === 0 ? change.first : only;
  const [isToggled, onToggle] = useToggled(first.id);
  const isOpen = isToggled !== isOpenAtFirst;
  const { onRevert } = list;
  const canRevert =
    onRevert !== undefined &&
    first.project !== undefined &&
    entries.some(({ action }) => offersRevert(action));
  const frame: RowFrame = {
    isOpen,
    onToggle,
    isDated: true,
    onRevert: canRevert ? () => onRevert(change) : undefined,
    footer: <ChangeFooter change={change} list={list} />,
    mark: made.length > 0 && <ProposalMark entries={shown} />,
    fact: <LineFact project={first.project} changes={[change]} list={list} />,
  };
  return entries.length === 1 ? (
    <AuditEntryRow entry={only} frame={frame} />
  ) : (
    <ChangeEntries entries={entries} first={first} frame={frame} />
  );
}

/** Several changes of one author on one line: what they did together. Open, it lists them. */
function BurstRow({ burst: { id, changes, newest }, list }: { burst: Burst; list: ListFacts }) {
  const [isOpen, onToggle] = useToggled(`burst ${id}`);
  const entries = changes.flatMap((change) => change.entries);
  const flags = [...flagsOf(entries)];
  const places = placesOf(entries);
  const states = entries.filter(({ action }) => action === 'flag.changed');
  const emergencies = entries.filter(({ action }) => action === 'proposal.emergency');
  const isOneState =
    flags.length === 1 &&
    places.length === 1 &&
    entries.every(({ action }) => action === 'flag.changed' || action === 'flag.created');

  return (
    <ChangeRow
      entry={newest.first}
      details={isOneState ? netDetails(states.at(-1)?.before, states[0]?.after) : []}
      frame={{
        isOpen,
        onToggle,
        isDated: true,
        mark: <ProposalMark entries={emergencies} />,
        fact: <LineFact project={newest.first.project} changes={changes} list={list} />,
      }}
      body={
        <div className="divide-y divide-line overflow-hidden rounded-md border border-line bg-surface">
          <Parts items={changes} seqOf={(change) => change.seq}>
            {(change) => (
              <li key={change.first.id} className="border-t border-line first:border-t-0">
                <ChangeItem change={change} list={list} />
              </li>
            )}
          </Parts>
        </div>
      }
    >
      <span className="shrink-0 text-ink-2 max-md:shrink">
        {flags.length === 1
          ? messages.madeChangesTo(changes.length)
          : messages.burst(changes.length, flags.length)}
      </span>{' '}
      <Flags project={newest.first.project} flags={flags} /> <Places names={places} />
    </ChangeRow>
  );
}

/** In the log of all projects the name of the project, elsewhere how many streams took the changes. */
function LineFact({
  project,
  changes,
  list: { showsProject },
}: {
  project: string | undefined;
  changes: readonly Change[];
  list: ListFacts;
}) {
  if (!showsProject) return <LineDelivery changes={changes.map((change) => change.entries)} />;
  if (project === undefined) return null;
  return (
    <span className="max-w-48 truncate text-xs text-ink-3 max-lg:hidden" title={messages.project(project)}>
      <span className="sr-only">{messages.project('')}</span>
      {project}
    </span>
  );
}

/** How many flags of a change are named. */
const NAMED = 3;

function Flags({ project, flags }: { project: string | undefined; flags: readonly string[] }) {
  if (project === undefined) return null;
  const more = flags.length - NAMED;
  return (
    <>
      {flags.slice(0, NAMED).map((flag) => (
        <FlagLink key={flag} project={project} flag={flag} />
      ))}
      {more > 0 && <span className="shrink-0 text-ink-3">{messages.more(more)}</span>}
    </>
  );
}

function Places({ names }: { names: readonly string[] }) {
  const [only] = names;
  if (only === undefined) return null;
  if (names.length === 1) return <EntryPlace name={only} />;
  return (
    <span className="min-w-0 truncate text-ink-2 max-md:wrap-anywhere max-md:whitespace-normal">
      {messages.inEnvironments(names)}
    </span>
  );
}

/** How many entries of one change are shown before "Show all". */
const FEW = 4;

/** A change with several entries: author, place and note once; open, what was done, one below the other. */
function ChangeEntries({
  entries,
  first,
  frame,
}: {
  entries: readonly AuditEntryRecord[];
  first: AuditEntryRecord;
  frame: RowFrame;
}) {
  const [isWhole, setWhole] = useState(false);
  const nameOf = usePersonName();
  const flags = [...flagsOf(entries)];
  const places = placesOf(entries);
  // Changes are listed newest first, but the entries of one in the order in which they happened.
  const listed = entries.toReversed();
  // A project comes and goes with its environments and flags, an environment ends with its plans and schedules, and a key that is
  // replaced has a successor.
  const whole =
    entries.find(({ action }) => action.startsWith('project.')) ??
    entries.find(({ action }) => action === 'environment.deleted' || action === 'key.replaced');
  const { verb, details } =
    whole === undefined ? summaryOf(entries, flags.length, nameOf) : changeWords(whole, nameOf);

  return (
    <ChangeRow
      entry={first}
      details={details}
      frame={frame}
      body={
        <>
          <ul className="space-y-1.5 border-l-2 border-line pl-3">
            {(isWhole ? listed : listed.slice(0, FEW)).map((entry) => (
              <li key={entry.id}>
                <EntryLine
                  entry={entry}
                  nameOf={nameOf}
                  hasTarget={flags.length !== 1 || whole !== undefined}
                />
              </li>
            ))}
          </ul>

          {entries.length > FEW && (
            <FoldButton isOpen={isWhole} onToggle={setWhole}>
              {isWhole ? messages.showFewer : messages.showAll(entries.length)}
            </FoldButton>
          )}
        </>
      }
    >
      <span className="shrink-0 text-ink-2 max-md:shrink">{verb}</span>{' '}
      {whole === undefined ? (
        <>
          <Flags project={first.project} flags={flags} /> <Places names={places} />
        </>
      ) : (
        <EntryTarget entry={whole} />
      )}
    </ChangeRow>
  );
}

/** One of the entries of a change: its details in words, or the fields that differ. */
function EntryLine({
  entry,
  nameOf,
  hasTarget,
}: {
  entry: AuditEntryRecord;
  nameOf: NameOf;
  hasTarget: boolean;
}) {
  const { verb, details } = changeWords(entry, nameOf);
  const showsFields = hasVersions(entry.action, entry);
  return (
    <>
      <p className="flex flex-wrap items-center gap-x-1.5 text-xs">
        <span className="text-ink-2">{hasTarget ? verb : verbAlone(entry.action, verb)}</span>
        {hasTarget && <EntryTarget entry={entry} />}
        {entry.environment !== undefined && entry.environment !== entry.target && (
          <EntryPlace name={entry.environment} />
        )}
        {!showsFields && details.map((detail) => <DetailText key={detail.label} detail={detail} />)}
      </p>
      {showsFields && <FieldDiff before={entry.before} after={entry.after} />}
    </>
  );
}

/** The small line below an open change: its number with a link to it, its time, its project, and how far it came. */
function ChangeFooter({ change, list }: { change: Change; list: ListFacts }) {
  const { seq, first } = change;
  const path = links.change(list.showsProject ? undefined : first.project, seq);
  const parts = [
    fullTime(new Date(first.at)),
    ...(list.showsProject && first.project !== undefined ? [messages.project(first.project)] : []),
  ];

  return (
    <div className="mt-2 flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-3">
      <span className="inline-flex items-center gap-1">
        <Link href={path} className="text-accent hover:underline">
          {messages.change(seq)}
        </Link>
        <CopyButton
          className="-my-1 size-6"
          text={new URL(path, location.origin).href}
          label={messages.copyLink(seq)}
        />
      </span>
      {parts.map((part) => (
        <span key={part}>{part}</span>
      ))}
      {first.project !== undefined && <Delivered project={first.project} change={change} />}
    </div>
  );
}

/** How far a change came, updated live. */
function Delivered({ project, change }: { project: string; change: Change }) {
  const { data = [] } = useProjectDeliveries(project);
  const seqs = new Set(change.entries.map(({ seq }) => seq));
  const delivery = sumOf(data.filter(({ seq }) => seqs.has(seq)));
  return delivery === undefined || delivery.streams === 0 ? null : <span>{deliveryText(delivery)}</span>;
}
