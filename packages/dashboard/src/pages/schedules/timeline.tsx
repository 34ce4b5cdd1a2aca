import type { LucideIcon } from 'lucide-react';
import CircleAlert from 'lucide-react/icons/circle-alert';
import CirclePause from 'lucide-react/icons/circle-pause';
import Clock from 'lucide-react/icons/clock';
import TrendingUp from 'lucide-react/icons/trending-up';
import UserCheck from 'lucide-react/icons/user-check';
import { useId, useState } from 'react';
import { useEnvironments } from '../../api/projects.ts';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { classNames } from '../../components/class-names.ts';
import { CutKey } from '../../components/cut-key.tsx';
import { daysFrom } from './axis.ts';
import { messages } from './messages.ts';
import { TimelineCard } from './timeline-card.tsx';
import { type ItemStatus, isLater, type TimelineItem } from './timeline-items.ts';
import { Track } from './timeline-track.tsx';
import { WhoAndWhy } from './who-and-why.tsx';

/** The columns of the axis and of all lines; on narrow screens the axis is below the name. */
const COLUMNS =
  'grid grid-cols-1 md:grid-cols-[minmax(0,20rem)_minmax(0,1fr)] md:gap-x-4 lg:grid-cols-[minmax(0,24rem)_minmax(0,1fr)]';

/** What will happen: a line for each plan and each change on one axis of seven days, and what comes after them. */
export function Timeline({
  project,
  items,
  now,
}: {
  project: string;
  items: readonly TimelineItem[];
  /** Epoch milliseconds. */
  now: number;
}) {
  const id = useId();
  const soon = items.filter((item) => !isLater(item, now));
  const later = items.filter((item) => isLater(item, now));

  return (
    <section aria-labelledby={id} className="mb-6">
      <div className="rounded-lg border border-line bg-surface">
        <div className={classNames(COLUMNS, 'items-end px-3 pt-2 pb-1')}>
          <h2 id={id} className="font-medium">
            {messages.timeline}
          </h2>
          <Days now={now} />
        </div>

        {soon.length === 0 ? (
          <p className="border-t border-line px-3 py-3 text-ink-3">{messages.noTimes}</p>
        ) : (
          <Lines project={project} items={soon} now={now} labelledBy={id} />
        )}

        {later.length > 0 && (
          <>
            <h3
              id={`${id}-later`}
              className="border-t border-line px-3 pt-3 pb-1 text-xs font-medium text-ink-3"
            >
              {messages.later}
            </h3>
            <Lines project={project} items={later} now={now} labelledBy={`${id}-later`} />
          </>
        )}
      </div>
    </section>
  );
}

function Lines({
  project,
  items,
  now,
  labelledBy,
}: {
  project: string;
  items: readonly TimelineItem[];
  now: number;
  labelledBy: string;
}) {
  return (
    <ul aria-labelledby={labelledBy}>
      {items.map((item) => (
        <Line key={item.id} project={project} item={item} now={now} />
      ))}
    </ul>
  );
}

/** The names of the days, at their midnights. The lines say their times in words. */
function Days({ now }: { now: number }) {
  return (
    <div aria-hidden className="relative mx-1.5 h-5 text-2xs text-ink-3 tabular-nums">
      <span className="absolute bottom-0 left-0">{messages.now}</span>
      {daysFrom(now).map(({ at, share, weekday, day }) => (
        <span
          key={at}
          // Beside "Now" and at the end there is no room, and less on a narrow screen.
          hidden={share < 0.12 || share > 0.95}
          className={classNames(
            'absolute bottom-0 -translate-x-1/2 whitespace-nowrap',
            share < 0.18 && 'max-sm:hidden',
          )}
          style={{ left: `${share * 100}%` }}
        >
          {weekday} <span className="max-sm:hidden">{day}</span>
        </span>
      ))}
    </div>
  );
}

function iconOf({ source, status }: TimelineItem): LucideIcon {
  if (status === 'overdue') return CircleAlert;
  if (status === 'paused') return CirclePause;
  if (status === 'waiting') return UserCheck;
  return 'plan' in source ? TrendingUp : Clock;
}

const ICON_COLORS: Readonly<Record<ItemStatus, string>> = {
  planned: 'text-ink-3',
  overdue: 'text-danger',
  paused: 'text-warn',
  waiting: 'text-accent',
};

/** One plan or change: its flag and its dots. Pressing it opens its card. */
function Line({ project, item, now }: { project: string; item: TimelineItem; now: number }) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const environment = useEnvironments(project).find(({ name }) => name === item.environment);
  const Icon = iconOf(item);

  return (
    <li className="border-t border-line">
      <WhoAndWhy item={item} isOff={isOpen}>
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={isOpen ? id : undefined}
          className={classNames(
            COLUMNS,
            'group min-h-9 w-full items-center px-3 text-left hover:bg-hover max-md:py-1.5',
            isOpen && 'bg-hover',
          )}
          onClick={() => setOpen(!isOpen)}
        >
          <span className="flex min-w-0 items-center gap-x-2 max-md:flex-wrap">
            <span className="flex max-w-full min-w-0 items-center gap-2">
              <Icon size={13} aria-hidden className={classNames('shrink-0', ICON_COLORS[item.status])} />
              <Flags keys={item.keys} />
            </span>
            <span className="flex max-w-full shrink-0 text-xs text-ink-2 md:ml-auto md:max-w-2/5">
              <span className="sr-only"> {messages.inEnvironment} </span>
              {environment === undefined ? (
                item.environment
              ) : (
                <EnvironmentBadge environment={environment} fit="cutIfWide" />
              )}
            </span>
          </span>

          <Track item={item} now={now} />
        </button>
      </WhoAndWhy>

      {isOpen && (
        <div id={id} className="border-t border-line bg-bg">
          <TimelineCard project={project} item={item} environment={environment} />
        </div>
      )}
    </li>
  );
}

/** The key of the first flag, cut where it does not fit, and how many others there are. */
function Flags({ keys }: { keys: readonly string[] }) {
  const [first = '', ...others] = keys;
  return (
    <span className="flex min-w-0 items-center gap-1.5 font-mono text-xs" title={keys.join('\n')}>
      <span className="sr-only">{keys.join(', ')}</span>
      <span aria-hidden className="min-w-0">
        <CutKey flag={first} />
      </span>
      {others.length > 0 && (
        <span aria-hidden className="shrink-0 text-ink-3">
          {messages.others(others.length)}
        </span>
      )}
    </span>
  );
}
