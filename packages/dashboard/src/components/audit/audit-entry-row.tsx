import Undo2 from 'lucide-react/icons/undo-2';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { AuditEntryRecord, EnvironmentRecord } from '../../api/types.ts';
import { links } from '../../shell/links.ts';
import { Author, EnvironmentBadge } from '../badges.tsx';
import { Button } from '../button.tsx';
import { TimeAgo } from '../time-ago.tsx';
import { actionText, hasVersions, targetText } from './action-text.ts';
import { FieldDiff } from './field-diff.tsx';
import { messages } from './messages.ts';

/**
 * One entry: author, action, target, place, time, note, and the fields that differ. `environments` are those of the project,
 * for their colors; `children`, such as the proof of delivery, go below. Put it into a list item.
 */
export function AuditEntryRow({
  entry,
  environments = [],
  target = 'link',
  onRevert,
  children,
}: {
  entry: AuditEntryRecord;
  environments?: readonly EnvironmentRecord[];
  /** `hidden` if every row has the same target. */
  target?: 'link' | 'hidden';
  /** Absent if the change cannot be reverted, or not by this person. */
  onRevert?: (() => void) | undefined;
  children?: ReactNode;
}) {
  const { actor, action, before, after, note, at, seq } = entry;
  return (
    <div className="flex items-start gap-3 px-3 py-2.5" data-seq={seq}>
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-baseline gap-x-1.5">
          <Author actor={actor} className="font-medium" />{' '}
          <span className="text-ink-2">{wordsOf(entry, target)}</span>{' '}
          {target === 'link' && <EntryTarget entry={entry} />}{' '}
          {entry.environment !== undefined && (
            <EntryPlace name={entry.environment} environments={environments} />
          )}{' '}
          <TimeAgo at={at} className="text-xs whitespace-nowrap text-ink-3" />
        </p>
        {note !== undefined && <p className="mt-0.5 break-words text-ink-2">“{note}”</p>}
        {hasVersions(action, entry) && (
          <div className="mt-1.5">
            <FieldDiff before={before} after={after} />
          </div>
        )}
        {children}
      </div>
      <RevertButton seq={seq} onRevert={onRevert} />
    </div>
  );
}

function wordsOf(entry: AuditEntryRecord, target: 'link' | 'hidden'): string {
  const words = actionText(entry.action, entry);
  return target === 'hidden' && entry.action === 'flag.changed' ? `${words} it` : words;
}

/** The target of an entry: a flag as a link, anything else by name. */
export function EntryTarget({ entry }: { entry: AuditEntryRecord }) {
  const { action, project, target } = entry;
  if (action.startsWith('flag.') && project !== undefined) {
    return (
      <Link
        href={links.flag(project, target)}
        className="font-mono text-xs break-all text-accent hover:underline"
      >
        {target}
      </Link>
    );
  }
  return <span className="font-mono text-xs break-all">{targetText(entry)}</span>;
}

/** The environment of an entry. */
export function EntryPlace({
  name,
  environments,
}: {
  name: string;
  environments: readonly EnvironmentRecord[];
}) {
  const environment = environments.find((each) => each.name === name);
  return (
    <span className="inline-flex max-w-full items-baseline gap-1.5 text-ink-2">
      in {environment === undefined ? name : <EnvironmentBadge environment={environment} />}
    </span>
  );
}

/** Opens the revert of a change; nothing without `onRevert`. */
export function RevertButton({ seq, onRevert }: { seq: number; onRevert: (() => void) | undefined }) {
  if (onRevert === undefined) return null;
  return (
    <Button kind="quiet" className="h-7 px-2" aria-label={messages.revertChange(seq)} onClick={onRevert}>
      <Undo2 size={14} aria-hidden />
      <span className="max-sm:sr-only">{messages.revert}</span>
    </Button>
  );
}
