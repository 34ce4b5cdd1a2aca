import ChevronRight from 'lucide-react/icons/chevron-right';
import KeyRound from 'lucide-react/icons/key-round';
import Server from 'lucide-react/icons/server';
import Undo2 from 'lucide-react/icons/undo-2';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { usePersonName } from '../../api/operators.ts';
import type { AuditEntryRecord } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { Author } from '../badges.tsx';
import { Becomes } from '../becomes.tsx';
import { Button } from '../button.tsx';
import { classNames } from '../class-names.ts';
import { EnvironmentName } from '../environment-name.tsx';
import { fullTime, TimeAgo } from '../time-ago.tsx';
import { hasVersions, targetText, verbAlone } from './action-text.ts';
import { changeWords, type Detail } from './change-words.ts';
import { FieldDiff } from './field-diff.tsx';
import { messages } from './messages.ts';

/** What every row of the history has, whether it is one entry, a change or several changes. */
export interface RowFrame {
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  /** Absent if the change cannot be reverted, or not by this person. */
  readonly onRevert?: (() => void) | undefined;
  /** Shown below an open row, such as the proof of delivery. */
  readonly footer?: ReactNode;
  /** Shown beside the words, such as that it was an emergency. */
  readonly mark?: ReactNode;
  /** Shown beside the time: how many streams took the change; among changes of several projects, of which one it is. */
  readonly fact?: ReactNode;
  /** Shows only the time of the day: the row is below its date. */
  readonly isDated?: boolean;
}

/**
 * One line about a change, which opens and shows everything: who, what (`children`), details, note and time. `body` is
 * shown while it is open. Put it into a list item.
 */
export function ChangeRow({
  entry: { actor, at, note, seq },
  children,
  details,
  body,
  frame: { isOpen, onToggle, onRevert, footer, mark, fact, isDated = false },
}: {
  entry: AuditEntryRecord;
  children: ReactNode;
  details: readonly Detail[];
  body: ReactNode;
  frame: RowFrame;
}) {
  return (
    <div data-seq={seq}>
      <div className="group relative flex items-start gap-2 py-1.5 pr-2 pl-1.5 hover:bg-hover sm:pl-2.5">
        <button
          type="button"
          aria-expanded={isOpen}
          aria-label={messages.detailsOf(seq)}
          className="flex size-6 shrink-0 items-center justify-center rounded text-ink-3 after:absolute after:inset-0"
          onClick={onToggle}
        >
          <ChevronRight
            size={14}
            aria-hidden
            className={classNames('transition-transform', isOpen && 'rotate-90')}
          />
        </button>

        <Avatar actor={actor} />
        <p
          className={classNames(
            'flex min-h-6 min-w-0 flex-1 flex-wrap items-center gap-x-1.5',
            !isOpen && 'md:flex-nowrap md:overflow-hidden md:whitespace-nowrap',
          )}
        >
          {mark}
          <Author actor={actor} className="shrink-0 font-medium max-md:shrink" /> {children}
          {details.map((detail) => (
            <DetailText key={detail.label} detail={detail} />
          ))}
          {note !== undefined && (
            <span
              className={classNames(
                'min-w-0 text-ink-2',
                // Also beside the longest names something of it is in view: that there is a reason.
                isOpen ? 'wrap-anywhere' : 'grow basis-0 truncate max-md:basis-auto md:min-w-24',
              )}
            >
              “{noteText(note)}”
            </span>
          )}
        </p>

        <span className="flex h-6 shrink-0 items-center gap-1.5">
          <RevertButton seq={seq} isShown={isOpen} onRevert={onRevert} />
          {fact}
          {isDated ? <ClockTime at={at} /> : <TimeAgo at={at} className={TIME} />}
        </span>
      </div>

      {isOpen && (
        <div className="px-3 pt-0.5 pb-3 sm:pr-4 sm:pl-18">
          {body}
          {footer}
        </div>
      )}
    </div>
  );
}

/** A note without the ID of a schedule, which the server writes in front of the schedule's own note. */
function noteText(note: string): string {
  return note.replace(/^Schedule [0-9a-f-]{36}/, messages.scheduled);
}

const TIME = 'relative text-xs whitespace-nowrap text-ink-3';

/** One entry of the audit log on one line; open, it shows the fields that differ. */
export function AuditEntryRow({
  entry,
  target = 'link',
  frame,
}: {
  entry: AuditEntryRecord;
  /** `hidden` if every row has the same target. */
  target?: 'link' | 'hidden';
  frame: RowFrame;
}) {
  const { verb, details } = changeWords(entry, usePersonName());
  return (
    <ChangeRow
      entry={entry}
      details={details}
      frame={frame}
      body={hasVersions(entry.action, entry) && <FieldDiff before={entry.before} after={entry.after} />}
    >
      <span className="shrink-0 text-ink-2 max-md:shrink">
        {target === 'hidden' ? verbAlone(entry.action, verb) : verb}
      </span>{' '}
      {target === 'link' && <EntryTarget entry={entry} />}{' '}
      {entry.environment !== undefined && entry.environment !== entry.target && (
        <EntryPlace name={entry.environment} />
      )}
    </ChangeRow>
  );
}

/** A detail of a change: "rollout 25 % → 50 %". */
export function DetailText({ detail: { label, before, after } }: { detail: Detail }) {
  return (
    <span className="min-w-0 truncate max-md:whitespace-normal">
      <span aria-hidden className="mr-1.5 text-ink-3 max-md:hidden">
        ·
      </span>
      <span className="text-ink-2">{label}</span>
      {before !== undefined && (
        <>
          {' '}
          <del className="text-ink-2 no-underline">{before}</del> <Becomes />
        </>
      )}
      {after !== undefined && (
        <>
          {' '}
          <ins className="font-medium no-underline">{after}</ins>
        </>
      )}
    </span>
  );
}

/** The initials of a person, or the icon of a token or of the server. */
function Avatar({ actor }: { actor: string }) {
  const { name } = usePersonName()(actor);
  const initials = name
    .replace(/@.*/, '')
    .split(/[\s._-]+/)
    .flatMap((part) => part.match(/\p{L}/u)?.[0] ?? []);
  const shown = initials.length > 1 ? [initials[0], initials.at(-1)] : initials;

  return (
    <span
      aria-hidden
      className="flex size-6 shrink-0 items-center justify-center rounded-full bg-accent-soft text-[0.625rem] font-semibold text-accent select-none"
    >
      {actor.startsWith('operator:') ? (
        shown.join('').toUpperCase()
      ) : actor.startsWith('token:') ? (
        <KeyRound size={12} />
      ) : (
        <Server size={12} />
      )}
    </span>
  );
}

const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

/** The time of a day; hovering shows the full time. */
function ClockTime({ at }: { at: string }) {
  const date = new Date(at);
  return (
    <time dateTime={at} title={fullTime(date)} className={classNames(TIME, 'tabular-nums')}>
      {clock.format(date)}
    </time>
  );
}

/** The target of an entry: a flag as a link, anything else by name. */
export function EntryTarget({ entry }: { entry: AuditEntryRecord }) {
  const { action, project, target } = entry;
  if (/^(flag|rollout)\./.test(action) && project !== undefined)
    return <FlagLink project={project} flag={target} isAlone />;
  if (action.startsWith('proposal.') && project !== undefined)
    return (
      <Link href={links.proposal(project, target)} className={`min-w-10 ${TARGET_LINK}`}>
        {targetText(entry)}
      </Link>
    );
  return (
    <span className="min-w-0 truncate font-mono text-xs max-md:wrap-anywhere max-md:whitespace-normal">
      {targetText(entry)}
    </span>
  );
}

const TARGET_LINK =
  'relative shrink truncate font-mono text-xs leading-6 text-accent hover:underline max-md:wrap-anywhere max-md:whitespace-normal';

/** Keys of this many characters are never cut: one that is alone on its line, and one of several. */
const [SHORT_ALONE, SHORT] = [24, 8];

/** A link to a flag, which is above the button that covers its row. */
export function FlagLink({
  project,
  flag,
  isAlone = false,
}: {
  project: string;
  flag: string;
  isAlone?: boolean;
}) {
  const isShort = flag.length <= (isAlone ? SHORT_ALONE : SHORT);
  return (
    <Link
      href={links.flag(project, flag)}
      // Long keys may be cut down to this; a short one would stand before a gap.
      className={classNames(TARGET_LINK, isShort ? 'min-w-max' : 'min-w-16')}
      title={flag}
    >
      {flag}
    </Link>
  );
}

/** Names of environments of this many characters are never cut. */
const SHORT_NAME = 24;

/** The environment of an entry. */
export function EntryPlace({ name }: { name: string }) {
  return (
    <span
      className={classNames(
        'inline-flex max-w-full items-center gap-1.5 leading-6 text-ink-2',
        name.length > SHORT_NAME ? 'min-w-40' : 'shrink-0',
      )}
    >
      in <EnvironmentName name={name} fit="cutIfWide" />
    </span>
  );
}

/**
 * Opens the revert of a change; renders nothing without `onRevert`. Visible while its row is open, hovered or focused, and
 * always on a screen that is touched.
 */
function RevertButton({
  seq,
  isShown,
  onRevert,
}: {
  seq: number;
  isShown: boolean;
  onRevert: (() => void) | undefined;
}) {
  if (onRevert === undefined) return null;
  return (
    <Button
      kind="quiet"
      className={classNames(
        'relative h-6 px-2 -outline-offset-2',
        !isShown && '[@media(hover:hover)]:opacity-0 group-hover:opacity-100 focus-visible:opacity-100',
      )}
      aria-label={messages.revertChange(seq)}
      onClick={onRevert}
    >
      <Undo2 size={14} aria-hidden />
      <span className="max-md:sr-only">{messages.revert}</span>
    </Button>
  );
}
