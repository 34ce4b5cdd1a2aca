import Star from 'lucide-react/icons/star';
import { Link } from 'wouter';
import type { FlagRecord } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { Author } from '../../components/badges.tsx';
import { IconButton } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { CopyButton } from '../../components/copy.tsx';
import { CutKey } from '../../components/cut-key.tsx';
import { Highlight } from '../../components/highlight.tsx';
import { SparePart } from '../../components/parts.tsx';
import { ReadTime, TimeAgo } from '../../components/time-ago.tsx';
import { type LastChangeFacts, lastChange } from '../../flags/flag-filter.ts';
import { ProposalMark } from '../../flags/proposals/marks.ts';
import { useFlagMarks, useReadMarks } from './flag-marks.tsx';
import { messages } from './messages.ts';

/**
 * A flag's key, which links to its page, and below it the description and the tags. The star and the Copy button take
 * space only in the row that is hovered or focused.
 */
export function FlagName({
  project,
  flag,
  words,
  hasDescription,
  hasCopy = true,
  isFavorite,
  onFavorite,
}: {
  project: string;
  flag: FlagRecord;
  words: readonly string[];
  /** Whether a second line shows the description and the tags. Otherwise the tags follow the key. */
  hasDescription: boolean;
  /** Whether there is room for the button that copies the key. */
  hasCopy?: boolean;
  isFavorite: boolean;
  onFavorite: (key: string) => void;
}) {
  const { key, description, tags } = flag;
  const { isUnread, days, hasProposals } = useFlagMarks(key);
  const marks = [isUnread && messages.list.unread, days && messages.list.unchanged(days)].filter(Boolean);
  const mark = marks.join(', ');

  return (
    <div className="min-w-0">
      <div className="flex min-w-0 items-center gap-1">
        <KeyLink project={project} flag={key} words={words} />

        <span className={classNames(IN_USE, isFavorite ? 'inline-flex' : 'hidden')}>
          <IconButton
            icon={Star}
            iconSize={13}
            iconClassName={isFavorite ? 'fill-warn text-warn' : undefined}
            label={messages.list.favorite(key)}
            aria-pressed={isFavorite}
            className="size-6"
            onClick={() => onFavorite(key)}
          />
        </span>
        {hasCopy && (
          <span className={`${IN_USE} hidden`}>
            <CopyButton text={key} label={messages.list.copyKey(key)} className="size-6" />
          </span>
        )}

        {hasProposals && (
          <SparePart>
            <ProposalMark project={project} flag={key} />
          </SparePart>
        )}
        {!hasDescription && mark && (
          <Mark text={mark} isWarning={isUnread} className="min-w-0 shrink-[9999]" />
        )}
        {!hasDescription && <Tags tags={tags} className="min-w-0 shrink-[9999]" />}
      </div>

      {hasDescription && (mark || description !== '' || tags.length > 0) && (
        <div className="flex min-w-0 items-center gap-1.5">
          {mark && <Mark text={mark} isWarning={isUnread} className="shrink-0" />}
          {description !== '' && (
            <p
              className="max-w-max min-w-0 flex-1 truncate text-xs font-normal text-ink-3"
              title={description}
            >
              <Highlight text={description} words={words} />
            </p>
          )}
          <Tags tags={tags} className={classNames('min-w-0', description !== '' && 'max-w-1/2')} />
        </div>
      )}
    </div>
  );
}

/** Shown in the row that is hovered or focused, and on screens without a pointer. */
const IN_USE =
  'shrink-0 group-focus-within:inline-flex group-hover:inline-flex [@media(hover:none)]:inline-flex';

function KeyLink({ project, flag, words }: { project: string; flag: string; words: readonly string[] }) {
  return (
    <Link
      href={links.flag(project, flag)}
      className="flex min-h-6 min-w-0 items-center font-mono text-xs font-medium hover:text-accent hover:underline"
      title={flag}
      aria-label={flag}
    >
      <CutKey flag={flag} words={words} />
    </Link>
  );
}

/** Says that a flag was not read for 30 days, or is unchanged for as long. */
function Mark({ text, isWarning, className }: { text: string; isWarning: boolean; className: string }) {
  return (
    <span
      className={classNames(
        'h-4.5 truncate rounded px-1 text-2xs leading-4.5 font-medium',
        isWarning ? 'bg-warn-soft text-warn' : 'bg-hover text-ink-2',
        className,
      )}
    >
      {text}
    </span>
  );
}

/** The tags that fit on one line; hovering shows all. */
function Tags({ tags, className }: { tags: readonly string[]; className: string }) {
  if (tags.length === 0) return null;
  return (
    <ul
      aria-label={messages.list.tags}
      title={tags.join(', ')}
      className={classNames('flex h-4.5 flex-wrap gap-1 overflow-hidden', className)}
    >
      {tags.map((tag) => (
        <li
          key={tag}
          className="h-4.5 max-w-24 truncate rounded border border-line px-1 text-2xs font-normal text-ink-2"
        >
          {tag}
        </li>
      ))}
    </ul>
  );
}

/** When a flag last changed, and by whom where that is known: "2 min ago by Ada Lovelace". */
export function LastChange({ flag, className }: { flag: FlagRecord; className?: string }) {
  // The record does not say who archived the flag.
  const { at, by }: LastChangeFacts =
    flag.archivedAt === undefined ? lastChange(flag) : { at: flag.archivedAt };
  return (
    <p className={classNames('flex min-w-0 text-xs text-ink-3', className)}>
      <span className="shrink-0 whitespace-nowrap">
        {flag.archivedAt !== undefined && `${messages.list.archived} `}
        <TimeAgo at={at} />
      </span>
      {by !== undefined && (
        <span className="max-w-full truncate">
          {' '}
          {messages.list.by} <Author actor={by} />
        </span>
      )}
    </p>
  );
}

/** When the flag was last read in the environments that are shown; nothing while that is not known. */
export function LastRead({ flag, label }: { flag: string; label?: string }) {
  const times = useReadMarks();
  return (
    times && (
      <span className="text-xs whitespace-nowrap text-ink-3">
        {label} <ReadTime at={times.get(flag)} />
      </span>
    )
  );
}
