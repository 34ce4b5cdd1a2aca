import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Author } from '../../components/badges.tsx';
import { Popover } from '../../components/popover.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { dueText } from '../../flags/schedules/due-text.ts';
import { messages } from './messages.ts';
import type { TimelineItem } from './timeline-items.ts';

/** How long the pointer rests before the note opens, in milliseconds. */
const REST_MS = 300;

/** How long the pointer may be away before the note closes: on its way to the note. In milliseconds. */
const AWAY_MS = 150;

/** Shows who planned an item and why while its line is pointed at or has the focus of the keyboard. */
export function WhoAndWhy({
  item,
  isOff,
  children,
}: {
  item: TimelineItem;
  /** Whether its card is open, which says the same. */
  isOff: boolean;
  children: ReactNode;
}) {
  const anchor = useRef<HTMLDivElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [isShown, setShown] = useState(false);
  useEffect(() => () => clearTimeout(timer.current), []);

  function showAfter(ms: number, next: boolean): void {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setShown(next), ms);
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only watches the button inside
    <div
      ref={anchor}
      onPointerEnter={({ pointerType }) => pointerType === 'mouse' && showAfter(REST_MS, true)}
      onPointerLeave={() => showAfter(AWAY_MS, false)}
      onFocus={({ target }) => target.matches(':focus-visible') && showAfter(0, true)}
      onBlur={() => showAfter(0, false)}
    >
      {children}
      {isShown && !isOff && (
        <Popover anchor={anchor} className="max-w-96 min-w-0!" onClose={() => showAfter(0, false)}>
          <div role="tooltip" className="space-y-1 px-2 py-1 text-xs">
            <Notes item={item} />
          </div>
        </Popover>
      )}
    </div>
  );
}

/** Who planned an item, when and why; its times; and why it does not run by itself. */
function Notes({ item: { by, createdAt, note, moments, status } }: { item: TimelineItem }) {
  const why = {
    planned: undefined,
    overdue: messages.overdueWhy,
    paused: messages.pausedWhy,
    waiting: messages.waitingWhy,
  };

  return (
    <>
      <p>
        {messages.plannedBy} <Author actor={by} />, <TimeAgo at={createdAt} />
      </p>
      {note !== undefined && <p className="wrap-anywhere">“{note}”</p>}
      {moments.map(({ at, label }) => (
        <p key={at} className="text-ink-2 tabular-nums">
          {messages.stepAt(label, dueText(new Date(at).toISOString()).local)}
        </p>
      ))}
      {why[status] !== undefined && <p className="text-ink-2">{why[status]}</p>}
    </>
  );
}
