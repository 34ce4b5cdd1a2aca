import type { LucideIcon } from 'lucide-react';
import CircleAlert from 'lucide-react/icons/circle-alert';
import Star from 'lucide-react/icons/star';
import TrendingUp from 'lucide-react/icons/trending-up';
import UserCheck from 'lucide-react/icons/user-check';
import { Link } from 'wouter';
import { usePersonName } from '../../api/operators.ts';
import { useRoleIn } from '../../api/session.ts';
import type { ProjectOverview } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { targetText } from '../../components/audit/action-text.ts';
import { changeWords } from '../../components/audit/change-words.ts';
import { Author, Badge, type BadgeKind } from '../../components/badges.tsx';
import { IconButton } from '../../components/button.tsx';
import { ROLE_NAMES } from '../../components/permission-fields.tsx';
import { RecordCell, RecordHead, RecordRow } from '../../components/tables.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { messages } from './messages.ts';

const [, flagsColumn, environmentsColumn, streamsColumn, changeColumn, attentionColumn] = messages.columns;

/** A project in the list of all projects. */
export function ProjectRow({
  project,
  isStarred,
  onStar,
}: {
  project: ProjectOverview;
  isStarred: boolean;
  onStar: (name: string) => void;
}) {
  const { name, flags, environments, streams, failingWebhooks = 0 } = project;
  const role = useRoleIn()(name);

  return (
    <RecordRow>
      <RecordHead label={name}>
        <span className="flex min-w-0 items-center gap-1">
          <IconButton
            icon={Star}
            iconClassName={isStarred ? 'fill-warn text-warn' : undefined}
            label={messages.star(name)}
            aria-pressed={isStarred}
            className="-ml-1.5 size-7"
            onClick={() => onStar(name)}
          />
          <span className="min-w-0">
            <Link
              href={links.flags(name)}
              className="inline-flex min-h-6 items-center font-medium wrap-anywhere hover:text-accent hover:underline"
            >
              {name}
              {failingWebhooks > 0 && (
                // The column of what needs attention says it in words.
                <CircleAlert size={14} className="ml-1.5 shrink-0 text-danger" aria-hidden />
              )}
            </Link>
            <span className="block text-xs text-ink-3">{ROLE_NAMES[role]}</span>
          </span>
        </span>
      </RecordHead>

      <CountCell label={flagsColumn.label} count={flags} />
      <CountCell label={environmentsColumn.label} count={environments} />
      <CountCell label={streamsColumn.label} count={streams} />
      <RecordCell label={changeColumn.label} className="max-lg:order-last max-lg:col-span-full">
        <LastChange project={project} />
      </RecordCell>
      <RecordCell label={attentionColumn.label} className="max-lg:not-has-[li]:hidden">
        <Attention project={project} />
      </RecordCell>
    </RecordRow>
  );
}

function CountCell({ label, count }: { label: string; count: number }) {
  return (
    <RecordCell label={label} className={count === 0 ? 'text-ink-3 tabular-nums' : 'tabular-nums'}>
      {messages.count(count)}
    </RecordCell>
  );
}

/** Who did what, and when. */
function LastChange({ project: { name, lastChange } }: { project: ProjectOverview }) {
  const nameOf = usePersonName();
  if (lastChange === undefined) return <span className="text-ink-3">{messages.noChange}</span>;

  const { actor, at, environment, alike } = lastChange;
  const target = targetText(lastChange);
  const isFlag = lastChange.action.startsWith('flag.');

  return (
    <span className="block">
      <span className="block">
        <Author actor={actor} className="font-medium" /> {changeWords(lastChange, nameOf).verb}{' '}
        {isFlag ? (
          <Link
            href={links.flag(name, target)}
            className="font-mono text-xs wrap-anywhere hover:text-accent hover:underline"
          >
            {target}
          </Link>
        ) : (
          <span className="wrap-anywhere">{target}</span>
        )}
        {environment !== undefined && environment !== target && ` in ${environment}`}
        {alike > 1 && messages.andMore(alike - 1)}
      </span>
      <TimeAgo at={at} className="text-xs text-ink-3" />
    </span>
  );
}

/** What fails, waits or runs, with the way there. */
function Attention({ project }: { project: ProjectOverview }) {
  const { name, failingWebhooks = 0, waitingProposals, runningPlans } = project;
  const marks: readonly (readonly [
    count: number,
    kind: BadgeKind,
    icon: LucideIcon,
    text: string,
    to: string,
  ])[] = [
    [failingWebhooks, 'danger', CircleAlert, messages.failing(failingWebhooks), links.webhooks(name)],
    [waitingProposals, 'warn', UserCheck, messages.waiting(waitingProposals), links.proposals(name)],
    [runningPlans, 'accent', TrendingUp, messages.running(runningPlans), links.schedules(name)],
  ];
  const shown = marks.filter(([count]) => count > 0);
  if (shown.length === 0) return null;

  return (
    <ul className="flex flex-wrap gap-x-1.5">
      {shown.map(([, kind, icon, text, to]) => (
        <li key={to}>
          <Link href={to} className="inline-flex min-h-6 items-center rounded hover:underline">
            <Badge kind={kind} icon={icon}>
              {text}
            </Badge>
          </Link>
        </li>
      ))}
    </ul>
  );
}
