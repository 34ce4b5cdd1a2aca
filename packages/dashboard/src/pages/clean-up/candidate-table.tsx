import { useState } from 'react';
import { Link } from 'wouter';
import { findingsOf } from '../../api/code-references.ts';
import type { CodeReferences, FlagRecord, LastReads, ProjectRecord } from '../../api/types.ts';
import { type HoursOfReads, lastReadOf, useRecentReads } from '../../api/usage.ts';
import { links } from '../../browser/links.ts';
import { Button } from '../../components/button.tsx';
import { Checkbox } from '../../components/checkbox.tsx';
import { useOwnerName } from '../../components/people-picker.tsx';
import { RecordCell, RecordHead, RecordRow, RecordTable } from '../../components/tables.tsx';
import { ReadTime, TimeAgo } from '../../components/time-ago.tsx';
import { FoundInCode } from '../../flags/code-references/found-in-code.tsx';
import { lastChange, staleDays } from '../../flags/flag-filter.ts';
import type { Selection } from '../../flags/selection.ts';
import { ReadsSpark } from '../../flags/usage/reads-spark.tsx';
import { type Reason, reasonsOf } from './candidates.ts';
import { messages } from './messages.ts';

/** How many rows are shown at first: more take long to lay out, and people decide on a few at a time. */
const MOST = 100;

const { columns } = messages;

/** The flags that may be removed for a reason. */
export function CandidateTable({
  project,
  reason,
  flags,
  lastReads,
  code,
  selection,
}: {
  project: ProjectRecord;
  reason: Reason;
  flags: readonly FlagRecord[];
  /** `undefined` where reads are not known, which then have no column. */
  lastReads: LastReads | undefined;
  /** What repositories have reported. Without a report there is no column. */
  code: CodeReferences | undefined;
  /** `undefined` where the person may not change flags. */
  selection: Selection | undefined;
}) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? flags : flags.slice(0, MOST);
  const keys = flags.map(({ key }) => key);
  const recent = useRecentReads(project, lastReads === undefined ? [] : keys.slice(0, shown.length));
  const areAll = selection !== undefined && keys.every((key) => selection.keys.has(key));
  const reported = code !== undefined && code.repositories.length > 0 ? code : undefined;
  const all = [
    columns.flag,
    columns.why,
    ...(reported === undefined ? [] : [columns.code]),
    ...(lastReads === undefined ? [] : [columns.read]),
    columns.changed,
    columns.created,
    columns.owner,
  ];

  if (flags.length === 0)
    return (
      <p className="rounded-lg border border-line bg-surface px-4 py-10 text-center text-ink-2">
        {messages.none[reason]}
      </p>
    );

  return (
    <>
      {selection && (
        <Button className="mb-3" onClick={() => selection.toggleAll(keys)}>
          {areAll ? messages.deselectAll : messages.selectAll(flags.length)}
        </Button>
      )}

      <RecordTable label={messages.list(messages.reasons[reason])} columns={all}>
        {shown.map((flag) => (
          <CandidateRow
            key={flag.key}
            project={project}
            flag={flag}
            lastReads={lastReads}
            recent={recent.get(flag.key)}
            code={reported}
            isSelected={selection?.keys.has(flag.key) ?? false}
            onToggle={selection && (() => selection.toggle(flag.key))}
          />
        ))}
      </RecordTable>

      {shown.length < flags.length && (
        <Button className="mt-3" onClick={() => setWhole(true)}>
          {messages.showAll(flags.length)}
        </Button>
      )}
    </>
  );
}

function CandidateRow({
  project,
  flag,
  lastReads,
  recent,
  code,
  isSelected,
  onToggle,
}: {
  project: ProjectRecord;
  flag: FlagRecord;
  lastReads: LastReads | undefined;
  /** `undefined` for a flag without reads in the last 24 hours. */
  recent: HoursOfReads | undefined;
  code: CodeReferences | undefined;
  isSelected: boolean;
  onToggle: (() => void) | undefined;
}) {
  const { key, description, owner, createdAt, archivedAt } = flag;
  const nameOf = useOwnerName();
  const environments = project.environments.length;
  const now = Date.now();
  const days = staleDays(flag, environments, now);
  const reasons = reasonsOf(flag, { environments, lastReads, now });
  const readAt = lastReads && lastReadOf(key, lastReads);

  return (
    <RecordRow isSelected={isSelected}>
      <RecordHead label={key}>
        <span className="flex items-start gap-2">
          {onToggle && <Checkbox label={messages.select(key)} isChecked={isSelected} onChange={onToggle} />}
          <span className="min-w-0">
            <Link
              href={links.flag(project.name, key)}
              className="font-mono text-xs text-accent hover:underline"
            >
              {key}
            </Link>
            {description !== '' && <span className="line-clamp-2 text-xs text-ink-3">{description}</span>}
          </span>
        </span>
      </RecordHead>

      <RecordCell label={columns.why.label} className="max-lg:col-span-full">
        {reasons.map((each) => messages.why[each](environments, days)).join('; ')}
        {archivedAt !== undefined && (
          <>
            {' '}
            <TimeAgo at={archivedAt} />
          </>
        )}
      </RecordCell>

      {code !== undefined && (
        <RecordCell label={columns.code.label}>
          <FoundInCode
            project={project.name}
            flagKey={key}
            findings={findingsOf(code, key)}
            isNamed={code.repositories.length > 1}
          />
        </RecordCell>
      )}
      {lastReads !== undefined && (
        <RecordCell label={columns.read.label} className="lg:whitespace-nowrap">
          <ReadTime at={readAt} />
          {recent !== undefined && <ReadsSpark reads={recent} />}
        </RecordCell>
      )}

      <RecordCell label={columns.changed.label} className="lg:whitespace-nowrap">
        <TimeAgo at={lastChange(flag).at} />
      </RecordCell>
      <RecordCell label={columns.created.label} className="lg:whitespace-nowrap">
        <TimeAgo at={createdAt} />
      </RecordCell>
      <RecordCell label={columns.owner.label}>{owner === '' ? '–' : nameOf(owner)}</RecordCell>
    </RecordRow>
  );
}
