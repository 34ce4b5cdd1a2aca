import type { ReactNode } from 'react';
import { useHoldings } from '../../api/operators.ts';
import type { Holdings, OperatorRecord } from '../../api/types.ts';
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
        <div className="grid max-h-[50vh] gap-4 overflow-y-auto">
          <Part title={messages.ends} nothing={messages.nothingEnds} items={endingItems(ends)} />
          <Part title={messages.stays} nothing={messages.nothingStays} items={stayingItems(stays)} />
        </div>
      )}
    </Loaded>
  );
}

/** Things of one kind, and each of them. */
interface Item {
  readonly kind: string;
  readonly each: readonly { readonly key: string; readonly text: ReactNode }[];
}

function Part({ title, nothing, items }: { title: string; nothing: string; items: readonly Item[] }) {
  const some = items.filter(({ each }) => each.length > 0);

  return (
    <section>
      <h3 className="font-medium text-ink">{title}</h3>
      {some.length === 0 && <p className="mt-1 text-ink-2">{nothing}</p>}
      {some.map(({ kind, each }) => (
        <div key={kind} className="mt-2">
          <p className="text-xs text-ink-3">
            {kind} · {each.length}
          </p>
          <ul>
            {each.map(({ key, text }) => (
              <li key={key} className="break-words text-ink-2">
                {text}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}

function endingItems(ends: Holdings['ends']): readonly Item[] {
  const { kinds } = messages;
  return [
    {
      kind: kinds.sessions,
      each: ends.sessions.map(({ startedAt, lastUsedAt }, index) => ({
        key: `${startedAt} ${index}`,
        text: (
          <>
            {messages.lastUsed} <TimeAgo at={lastUsedAt} />
          </>
        ),
      })),
    },
    { kind: kinds.ownTokens, each: ends.tokens.map(({ id, name }) => ({ key: id, text: name })) },
    { kind: kinds.links, each: ends.links.map(({ id, email }) => ({ key: id, text: email ?? id })) },
    {
      kind: kinds.schedules,
      each: ends.schedules.map(({ id, project, environment, dueAt }) => ({
        key: id,
        text: (
          <>
            {project} / {environment}, <TimeAgo at={dueAt} />
          </>
        ),
      })),
    },
    {
      kind: kinds.plans,
      each: ends.plans.map(({ id, project, environment, flag }) => ({
        key: id,
        text: `${flag} in ${project} / ${environment}`,
      })),
    },
    {
      kind: kinds.proposals,
      each: ends.proposals.map(({ id, project, createdAt, note }) => ({
        key: id,
        text: (
          <>
            {project}, {note ?? ''} <TimeAgo at={createdAt} />
          </>
        ),
      })),
    },
  ];
}

function stayingItems(stays: Holdings['stays']): readonly Item[] {
  const { kinds } = messages;
  return [
    { kind: kinds.tokens, each: stays.tokens.map(({ id, name }) => ({ key: id, text: name })) },
    {
      kind: kinds.keys,
      each: stays.keys.map(({ id, project, name, lastFour }) => ({
        key: id,
        text: `${name} …${lastFour} of ${project}`,
      })),
    },
    {
      kind: kinds.flags,
      each: stays.flags.map(({ project, key }) => ({
        key: `${project} ${key}`,
        text: `${key} of ${project}`,
      })),
    },
  ];
}
