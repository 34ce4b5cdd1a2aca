import type { ReactNode } from 'react';
import { usePersonName } from '../../api/operators.ts';
import { Badge, type BadgeKind } from '../../components/badges.tsx';
import { classNames } from '../../components/class-names.ts';
import { dueText } from '../../flags/schedules/due-text.ts';
import { daysFrom, dotsOf } from './axis.ts';
import { messages } from './messages.ts';
import { type ItemStatus, isLater, type TimelineItem } from './timeline-items.ts';

const BADGES: Readonly<Record<ItemStatus, BadgeKind>> = {
  planned: 'plain',
  overdue: 'danger',
  paused: 'warn',
  waiting: 'accent',
};

/** The axis of one item with its dots; for screen readers its times in words. */
export function Track({ item, now }: { item: TimelineItem; now: number }) {
  const { status, moments } = item;
  const words = moments.map(({ at, label }) =>
    messages.stepAt(label, dueText(new Date(at).toISOString()).local),
  );
  const word = messages.statuses[status];
  const badge = word !== '' && (
    <span aria-hidden className="inline-flex">
      <Badge kind={BADGES[status]}>{word}</Badge>
    </span>
  );
  const nameOf = usePersonName();

  return (
    <>
      <span className="sr-only">
        {messages.spoken([word, ...words, messages.by(nameOf(item.by).name), item.note ?? ''])}
      </span>
      {isLater(item, now) ? (
        <span className="flex min-h-6 flex-wrap items-center gap-x-2 text-xs text-ink-2">
          <span aria-hidden>{words.join(' · ')}</span>
          {badge}
        </span>
      ) : (
        <Dots item={item} now={now} badge={badge} />
      )}
    </>
  );
}

const DOTS: Readonly<Record<ItemStatus, string>> = {
  planned: 'border-accent bg-surface',
  overdue: 'border-danger bg-danger',
  paused: 'border-warn bg-surface',
  waiting: 'border-dashed border-accent bg-surface',
};

/** The room that a word beside the first dot needs before the next dot, as a share of the axis. */
const BADGE_ROOM = 0.35;

function Dots({
  item: { status, moments },
  now,
  badge,
}: {
  item: TimelineItem;
  now: number;
  badge: ReactNode;
}) {
  const dots = dotsOf(moments, now);
  const beyond = moments.length - dots.reduce((sum, dot) => sum + dot.moments.length, 0);
  const end = beyond > 0 ? 1 : (dots.at(-1)?.share ?? 0);
  // The icon of the line says the same, in color.
  const hasRoom = (dots[1]?.share ?? 1) - (dots[0]?.share ?? 0) >= BADGE_ROOM;

  return (
    <span className="relative mx-1.5 block h-7">
      {daysFrom(now).map(({ at, share }) => (
        <span
          key={at}
          aria-hidden
          className="absolute inset-y-0 w-px bg-line"
          style={{ left: `${share * 100}%` }}
        />
      ))}
      <span
        aria-hidden
        className="absolute top-1/2 left-0 h-0.5 -translate-y-1/2 bg-accent opacity-35 forced-color-adjust-none"
        style={{ width: `${end * 100}%` }}
      />

      {dots.map(({ share, moments: [first] }) => (
        <span
          key={first?.at}
          aria-hidden
          className={classNames(
            'absolute top-1/2 size-3 -translate-x-1/2 -translate-y-1/2 rounded-full border-2 forced-color-adjust-none',
            DOTS[status === 'overdue' && (first?.at ?? now) >= now ? 'planned' : status],
          )}
          style={{ left: `${share * 100}%` }}
        />
      ))}

      {dots.map(({ share, label, moments: [first] }, index) => (
        <Beside key={first?.at} share={share}>
          {label !== '' && (
            // Over the line, on the background of the row.
            <span aria-hidden className="bg-surface px-0.5 group-hover:bg-hover group-aria-expanded:bg-hover">
              {label}
            </span>
          )}
          {index === 0 && (dots.length === 1 || hasRoom) && badge}
        </Beside>
      ))}

      {dots.length === 0 && <Beside share={0}>{badge}</Beside>}
      {beyond > 0 && (
        <span aria-hidden className="absolute right-0 bottom-0 text-2xs text-ink-3">
          {messages.beyond(beyond)}
        </span>
      )}
    </span>
  );
}

/** What stands right of a dot, or left of it at the end of the axis. */
function Beside({ share, children }: { share: number; children: ReactNode }) {
  const place =
    share > 0.85
      ? { right: `calc(${(1 - share) * 100}% + 0.5rem)` }
      : { left: `calc(${share * 100}% + 0.5rem)` };
  return (
    <span
      className="absolute inset-y-0 flex items-center gap-1.5 text-2xs whitespace-nowrap text-ink-2 tabular-nums"
      style={place}
    >
      {children}
    </span>
  );
}
