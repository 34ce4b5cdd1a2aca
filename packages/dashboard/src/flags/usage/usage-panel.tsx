import { Link } from 'wouter';
import { useCan } from '../../api/session.ts';
import type { FlagUsage } from '../../api/types.ts';
import { useFlagUsage, useHasReads } from '../../api/usage.ts';
import { links } from '../../browser/links.ts';
import { useEnvironmentFilter } from '../../components/environment-filter.tsx';
import { EnvironmentName } from '../../components/environment-name.tsx';
import { Loaded, Loading, Skeleton } from '../../components/screen-states.tsx';
import { Section } from '../../components/section.tsx';
import { LOCALE, ReadTime } from '../../components/time-ago.tsx';
import type { FlagPanelProps } from '../panel-props.ts';
import { messages } from './messages.ts';
import { HOUR_MS, type Reads, readBars, sumOf } from './read-bars.ts';

const DAY_MS = 86_400_000;

/** Environments without reads are only counted beyond so many rows. */
const MANY = 8;

interface Named {
  readonly name: string;
}

type EnvironmentReads = FlagUsage['environments'][number];

/** How often the flag was read, in the last 24 hours and 30 days. */
export function UsagePanel({ project, flag }: FlagPanelProps) {
  const isAdmin = useCan('admin');
  const [only] = useEnvironmentFilter(project.name);
  const reading = useFlagUsage(project, flag.key);
  if (project.usageSince === undefined && !isAdmin) return null;
  const isShown = ({ name }: Named) => only === undefined || name === only.name;

  return (
    <Section title={messages.title} isBoxed>
      {project.usageSince === undefined ? (
        <p className="mt-1 text-ink-2">
          {messages.off}{' '}
          <Link href={links.projectSettings(project.name)} className="text-accent underline">
            {messages.switchOn}
          </Link>
        </p>
      ) : (
        <Loaded
          reading={reading}
          skeleton={<UsageSkeleton project={project} environments={project.environments.filter(isShown)} />}
        >
          {({ environments }) => <Usage project={project} environments={environments.filter(isShown)} />}
        </Loaded>
      )}
    </Section>
  );
}

/** As high as the reads that come, so that the boxes below do not move. */
function UsageSkeleton({
  project,
  environments,
}: Pick<FlagPanelProps, 'project'> & { environments: readonly Named[] }) {
  const lastReadAt = new Date(0).toISOString();
  const reads = environments.map(({ name }) => ({ name, lastReadAt, hours: [], days: [] }));
  return (
    <Loading className="relative">
      <div className="invisible">
        <Usage project={project} environments={reads} />
      </div>
      <div className="absolute inset-0 flex flex-col justify-around">
        <Skeleton className="w-2/3" />
        <Skeleton className="w-full" />
        <Skeleton className="w-1/2" />
      </div>
    </Loading>
  );
}

function Usage({
  project,
  environments,
}: Pick<FlagPanelProps, 'project'> & { environments: readonly EnvironmentReads[] }) {
  const now = Date.now();
  const hours = environments.flatMap((each) => each.hours);
  const days = environments.flatMap((each) => each.days);
  const isRead = ({ lastReadAt }: EnvironmentReads) => lastReadAt !== undefined;
  const isUnread = !environments.some(isRead);
  const areOthersRead = useHasReads(project, isUnread);
  const listed = environments.length > MANY ? environments.filter(isRead) : environments;

  return (
    <>
      <Bars label={messages.last24Hours} reads={hours} stepMs={HOUR_MS} count={24} now={now} />
      <Bars label={messages.last30Days} reads={days} stepMs={DAY_MS} count={30} now={now} />

      {!isUnread ? (
        <table className="mt-3 w-full text-xs">
          <thead>
            <tr>
              {messages.columns.map(({ label, title }, index) => (
                <th
                  key={label}
                  scope="col"
                  title={title}
                  aria-label={title}
                  className={`pb-1 font-normal text-ink-3 ${alignment(index)}`}
                >
                  {label}
                </th>
              ))}
            </tr>
          </thead>

          <tbody>
            {listed.map((each) => (
              <EnvironmentRow key={each.name} reads={each} />
            ))}
          </tbody>
        </table>
      ) : (
        <p className="mt-2 text-xs text-ink-3">{areOthersRead ? messages.unread : messages.waiting}</p>
      )}

      {listed.length < environments.length && (
        <p className="mt-1 text-xs text-ink-3">{messages.more(environments.length - listed.length)}</p>
      )}
      <p className="mt-2 text-xs text-ink-3">{messages.note}</p>
    </>
  );
}

function EnvironmentRow({ reads: { name, hours, days, lastReadAt } }: { reads: EnvironmentReads }) {
  const [lastDay, lastMonth] = [hours, days].map((reads) => {
    const { on, off } = sumOf(reads);
    return { text: messages.short(on + off), title: messages.reads(on, off) };
  });
  return (
    <tr className="border-t border-line" data-usage={name}>
      <th scope="row" className="w-full max-w-0 py-1.5 text-left font-normal">
        <EnvironmentName name={name} fit="cut" />
      </th>
      <td className={`py-1.5 ${alignment(1)}`} title={lastDay?.title}>
        {lastDay?.text}
      </td>
      <td className={`py-1.5 ${alignment(2)}`} title={lastMonth?.title}>
        {lastMonth?.text}
      </td>
      <td className={`py-1.5 text-ink-2 ${alignment(3)}`}>
        <ReadTime at={lastReadAt} />
      </td>
    </tr>
  );
}

function alignment(column: number): string {
  return column === 0 ? 'text-left' : 'pl-2 text-right whitespace-nowrap tabular-nums';
}

/** A bar for each hour or day, the oldest first: the lower part is the reads for which the flag was on. */
function Bars({
  label,
  reads,
  stepMs,
  count,
  now,
}: {
  label: string;
  reads: readonly Reads[];
  stepMs: number;
  count: number;
  now: number;
}) {
  const { first, bars, most } = readBars(reads, { stepMs, count, now });
  const { on, off } = sumOf(bars);
  const text = messages.reads(on, off);

  return (
    <figure className="mt-3">
      <figcaption className="flex flex-wrap justify-between gap-x-2 text-xs">
        <span className="text-ink-3">{label}</span>
        <span className="font-medium">{text}</span>
      </figcaption>

      <svg
        className="mt-1 block h-10 w-full forced-color-adjust-none"
        viewBox={`0 0 ${count} 1`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${text}`}
      >
        <rect className="fill-line" x={0} y={0.975} width={count} height={0.025} />
        {bars.map((bar, index) => {
          const x = (first + index) * stepMs;
          const [onHeight, offHeight] = [bar.on / most, bar.off / most];

          return (
            <g key={x}>
              <title>{`${timeText(x, stepMs)}: ${messages.reads(bar.on, bar.off)}`}</title>
              <rect className="fill-transparent" x={index} y={0} width={1} height={1} />
              <rect className="fill-accent" x={index + 0.1} y={1 - onHeight} width={0.8} height={onHeight} />
              <rect
                className="fill-line-strong"
                x={index + 0.1}
                y={1 - onHeight - offHeight}
                width={0.8}
                height={offHeight}
              />
            </g>
          );
        })}
      </svg>
    </figure>
  );
}

const hourText = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short' });
const dayText = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeZone: 'UTC' });

/** A day is one in UTC, an hour is shown in local time. */
function timeText(at: number, stepMs: number): string {
  return (stepMs === DAY_MS ? dayText : hourText).format(at);
}
