import CalendarClock from 'lucide-react/icons/calendar-clock';
import Copy from 'lucide-react/icons/copy';
import Ellipsis from 'lucide-react/icons/ellipsis';
import X from 'lucide-react/icons/x';
import type { AuditEntryRecord, EnvironmentRecord, StateRecord } from '../../api/types.ts';
import { Author } from '../../components/badges.tsx';
import { IconButton } from '../../components/button.tsx';
import { Menu, MenuItem } from '../../components/menu.tsx';
import { SeenBy } from '../../components/seen-by.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { messages } from './messages.tsx';

const words = messages.card;

/** The last change, its delivery, and more actions. */
export function CardFooter({
  project,
  environment: { name },
  change,
  isNew,
  isThere,
  canEdit,
  onSchedule,
  onCopy,
  onRemove,
}: {
  project: string;
  environment: EnvironmentRecord;
  /** The last change; `undefined` without one, and while loading. */
  change: CardChange | undefined;
  /** Whether the whole history is loaded and has no change. */
  isNew: boolean;
  /** Whether the flag has a state here. */
  isThere: boolean;
  canEdit: boolean;
  onSchedule: () => void;
  /** Copies the state from another environment; `undefined` where there is no other. */
  onCopy: (() => void) | undefined;
  onRemove: () => void;
}) {
  return (
    <div className="flex min-h-9 items-center gap-2 border-t border-line py-1 pr-2 pl-4 text-xs text-ink-3">
      <p className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3 gap-y-0.5 py-1">
        {isNew && words.noChanges}
        {change !== undefined && <LastChange project={project} change={change} />}
      </p>

      {canEdit && (
        <Menu trigger={<IconButton icon={Ellipsis} iconSize={15} label={words.menu(name)} />}>
          <MenuItem icon={CalendarClock} label={words.schedule} onSelect={onSchedule} />
          {onCopy !== undefined && <MenuItem icon={Copy} label={words.copyFrom} onSelect={onCopy} />}
          {isThere && <MenuItem icon={X} isDangerous label={words.remove(name)} onSelect={onRemove} />}
        </Menu>
      )}
    </div>
  );
}

/** What was done when and by whom, with the note, and how many clients have seen it. */
function LastChange({ project, change: { action, at, by, entry } }: { project: string; change: CardChange }) {
  return (
    <>
      <span className="min-w-0 break-words">
        {action} <TimeAgo at={at} />
        {by !== undefined && (
          <>
            {' '}
            {words.by} <Author actor={by} />
          </>
        )}
        {entry?.note !== undefined && `: “${entry.note}”`}
      </span>
      {entry !== undefined && <SeenBy project={project} seq={entry.seq} />}
    </>
  );
}

/** The newest change of a flag's state in each environment, by the environment's name. `entries` are newest first. */
export function lastChanges(entries: readonly AuditEntryRecord[]): ReadonlyMap<string, AuditEntryRecord> {
  const last = new Map<string, AuditEntryRecord>();
  for (const entry of entries) {
    const { action, environment } = entry;
    if (action !== 'flag.changed' || environment === undefined || last.has(environment)) continue;
    last.set(environment, entry);
  }
  return last;
}

/** The last change of a state, as its card shows it. */
interface CardChange {
  readonly at: string;
  /** The actor, as in the audit log; absent where unknown. */
  readonly by?: string | undefined;
  readonly action: string;
  /** Its entry, once the history is loaded. */
  readonly entry?: AuditEntryRecord | undefined;
}

/** The last change of a state, from its record and the history. `undefined` without one. */
export function newestChange(
  record: StateRecord | undefined,
  entry: AuditEntryRecord | undefined,
): CardChange | undefined {
  if (record === undefined)
    return entry === undefined ? undefined : { at: entry.at, by: entry.actor, action: words.removed, entry };
  const isKnown = entry !== undefined && entry.at >= record.updatedAt;
  return {
    at: record.updatedAt,
    by: record.updatedBy ?? (isKnown ? entry.actor : undefined),
    action: words.changed,
    entry: isKnown ? entry : undefined,
  };
}
