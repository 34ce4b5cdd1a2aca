import { useState } from 'react';
import { Link } from 'wouter';
import { useFlag } from '../../api/flags.ts';
import type { EnvironmentRecord, FlagState, ProposalRecord, StateRecord } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { targetText } from '../../components/audit/action-text.ts';
import { FieldDiff } from '../../components/audit/field-diff.tsx';
import { StateDiff } from '../../components/audit/state-diff.tsx';
import { Author, EnvironmentBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { differingFields } from '../../components/state-summary.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import type { Effect } from '../../flags/proposals/proposal-words.ts';
import { actionWords, messages } from './messages.ts';

/** How many changes are shown at first. */
const FEW = 20;

/** What a proposal changes, one thing after the other; where a state is not as it was any more, also what it is now. */
export function ProposalEffects({
  proposal,
  environments,
}: {
  proposal: ProposalRecord;
  environments: readonly EnvironmentRecord[];
}) {
  const [most, setMost] = useState(FEW);
  const { project, status, effects } = proposal;
  const isMade = status === 'applied' || status === 'emergency' || status === 'acknowledged';
  return (
    <>
      <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
        {effects.slice(0, most).map((effect, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a proposal never changes
          <li key={index} className="px-4 py-3">
            <EffectHeading project={project} effect={effect} environments={environments} />
            {effect.action !== 'flag.changed' ? (
              <FieldDiff before={effect.before} after={effect.after} />
            ) : isMade ? (
              <StateDiff {...statesOf(effect)} />
            ) : (
              <ProposedState project={project} effect={effect} />
            )}
          </li>
        ))}
      </ul>
      {effects.length > most && (
        <Button className="mt-2" onClick={() => setMost(effects.length)}>
          {messages.showMore(effects.length - most)}
        </Button>
      )}
    </>
  );
}

function EffectHeading({
  project,
  effect,
  environments,
}: {
  project: string;
  effect: Effect;
  environments: readonly EnvironmentRecord[];
}) {
  const { action, target, environment } = effect;
  const found = environments.find(({ name }) => name === environment);
  const isFlag = /^(flag|rollout)\./.test(action);
  return (
    <h3 className="mb-1.5 flex flex-wrap items-center gap-x-1.5 gap-y-0.5">
      {action !== 'flag.changed' && <span className="text-ink-2">{actionWords(action)}</span>}
      {isFlag ? (
        <Link
          href={links.flag(project, target)}
          className="inline-flex min-h-6 items-center font-mono text-xs break-all text-accent hover:underline"
        >
          {target}
        </Link>
      ) : (
        <span className="font-mono text-xs break-all">{targetText(effect)}</span>
      )}
      {environment !== undefined && environment !== target && (
        <>
          <span className="text-ink-3">{messages.in}</span>
          {found === undefined ? environment : <EnvironmentBadge environment={found} />}
        </>
      )}
    </h3>
  );
}

/** A state that was not changed yet: what it would become, and what has become of it since, if anything. */
function ProposedState({ project, effect }: { project: string; effect: Effect }) {
  const { before, after } = statesOf(effect);
  const { data: flag } = useFlag(project, effect.target);
  const now = flag?.environments[effect.environment ?? ''];
  const isSame = flag === undefined || differingFields(before, now?.state).length === 0;
  if (isSame) return <StateDiff before={before} after={after} />;

  return (
    <dl className="grid gap-x-3 gap-y-2 sm:grid-cols-[6rem_minmax(0,1fr)]">
      <dt className="text-ink-3">{messages.proposed}</dt>
      <dd>
        <StateDiff before={before} after={after} />
      </dd>
      <dt className="text-warn">{messages.since}</dt>
      <dd>
        <StateDiff before={before} after={now?.state} />
        <ChangedBy record={now} />
      </dd>
    </dl>
  );
}

function ChangedBy({ record }: { record: StateRecord | undefined }) {
  if (record?.updatedBy === undefined) return null;
  return (
    <p className="mt-1 text-xs text-ink-3">
      {messages.byPerson} <Author actor={record.updatedBy} />, <TimeAgo at={record.updatedAt} />
    </p>
  );
}

/** The states of an effect on a state: the journal has states in them. */
function statesOf({ before, after }: Effect): {
  before: FlagState | undefined;
  after: FlagState | undefined;
} {
  return { before: before as FlagState | undefined, after: after as FlagState | undefined };
}
