import type { ReactNode } from 'react';
import { useHoldings } from '../../api/operators.ts';
import type { Holdings, OperatorRecord, TokenRecord } from '../../api/types.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Loaded } from '../../components/screen-states.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { messages } from './messages.tsx';

/** What a person has: what ends when they are removed, and what stays. */
export function HoldingsDialog({ operator, onClose }: { operator: OperatorRecord; onClose: () => void }) {
  return (
    <Dialog title={messages.holdingsOf(operator.name)} onClose={onClose} isQuestion>
      <HoldingsList id={operator.id} />
    </Dialog>
  );
}

/** The list of {@link HoldingsDialog}, which the question before a removal shows, too. */
export function HoldingsList({ id }: { id: string }) {
  const holdings = useHoldings(id);

  return (
    <Loaded reading={holdings} rows={4}>
      {({ ends, stays }) => (
        <div className="grid gap-4">
          <Part title={messages.ends} nothing={messages.nothingEnds} kinds={endingKinds(ends)} />
          <Part title={messages.stays} nothing={messages.nothingStays} kinds={stayingKinds(stays)} />
        </div>
      )}
    </Loaded>
  );
}

/** Things of one kind. */
interface Kind {
  readonly title: string;
  readonly things: readonly Thing[];
}

interface Thing {
  readonly key: string;
  readonly name: ReactNode;
  /** Below the name. */
  readonly place?: string;
  /** Beside the name. */
  readonly detail?: ReactNode;
}

/** The most things of a kind that are shown at once. Longer lists are folded. */
const SHORT = 5;

function Part({ title, nothing, kinds }: { title: string; nothing: string; kinds: readonly Kind[] }) {
  const some = kinds.filter(({ things }) => things.length > 0);

  return (
    <section>
      <h3 className="mb-1.5 font-semibold text-ink">{title}</h3>
      {some.length === 0 ? (
        <p className="text-ink-2">{nothing}</p>
      ) : (
        <div className="divide-y divide-line rounded-md border border-line">
          {some.map(({ title, things }) => (
            <details key={title} open={things.length <= SHORT} className="px-3 py-2">
              <summary className="cursor-pointer rounded text-xs text-ink-2">
                {title} <span className="text-ink-3 tabular-nums">· {things.length}</span>
              </summary>
              <ul className="mt-1 space-y-1">
                {things.map((thing) => (
                  <ThingLine key={thing.key} thing={thing} />
                ))}
              </ul>
            </details>
          ))}
        </div>
      )}
    </section>
  );
}

function ThingLine({ thing: { name, place, detail } }: { thing: Thing }) {
  return (
    <li className="flex items-baseline justify-between gap-4">
      <span className="min-w-0 wrap-anywhere text-ink">
        {name}
        {place !== undefined && <span className="block text-xs text-ink-3">{place}</span>}
      </span>
      {detail !== undefined && <span className="shrink-0 text-xs text-ink-3">{detail}</span>}
    </li>
  );
}

function endingKinds(ends: Holdings['ends']): readonly Kind[] {
  const { kinds } = messages;
  return [
    {
      title: kinds.sessions,
      things: ends.sessions.map(({ startedAt, lastUsedAt }, index) => ({
        key: `${startedAt} ${index}`,
        name: messages.signedIn(<TimeAgo at={startedAt} />),
        detail: messages.lastUsed(<TimeAgo at={lastUsedAt} />),
      })),
    },
    { title: kinds.ownTokens, things: ends.tokens.map(tokenThing) },

    {
      title: kinds.links,
      things: ends.links.map(({ id, email, kind }) => ({
        key: id,
        name: email ?? id,
        detail: messages.linkKinds[kind],
      })),
    },

    {
      title: kinds.schedules,
      things: ends.schedules.map(({ id, project, environment, dueAt, note }) => ({
        key: id,
        name: note ?? messages.noNote,
        place: messages.place(project, environment),
        detail: <TimeAgo at={dueAt} />,
      })),
    },

    {
      title: kinds.plans,
      things: ends.plans.map(({ id, project, environment, flag, status }) => ({
        key: id,
        name: flag,
        place: messages.place(project, environment),
        detail: status,
      })),
    },

    {
      title: kinds.proposals,
      things: ends.proposals.map(({ id, project, createdAt, note }) => ({
        key: id,
        name: note ?? messages.noNote,
        place: project,
        detail: <TimeAgo at={createdAt} />,
      })),
    },
  ];
}

function stayingKinds(stays: Holdings['stays']): readonly Kind[] {
  const { kinds } = messages;
  return [
    { title: kinds.tokens, things: stays.tokens.map(tokenThing) },
    {
      title: kinds.keys,
      things: stays.keys.map(({ id, project, name, lastFour }) => ({
        key: id,
        name,
        place: project,
        detail: <span className="font-mono">…{lastFour}</span>,
      })),
    },
    {
      title: kinds.flags,
      things: stays.flags.map(({ project, key }) => ({
        key: `${project} ${key}`,
        name: key,
        place: project,
      })),
    },
  ];
}

function tokenThing({ id, name, lastUsedAt }: TokenRecord): Thing {
  const detail =
    lastUsedAt === undefined ? messages.neverUsed : messages.lastUsed(<TimeAgo at={lastUsedAt} />);
  return { key: id, name, detail };
}
