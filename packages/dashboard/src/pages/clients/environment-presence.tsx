import type { EnvironmentClients, EnvironmentRecord } from '../../api/types.ts';
import { EnvironmentBadge } from '../../components/environment-badge.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';

/** The streams of one environment, in all and by key. `environment` is `undefined` until it is known. */
export function EnvironmentPresence({
  presence: { environment: name, streams, nodes, keys },
  environment,
}: {
  presence: EnvironmentClients;
  environment: EnvironmentRecord | undefined;
}) {
  return (
    <section aria-label={name} className="rounded-lg border border-line bg-surface">
      <div className="flex items-baseline justify-between gap-3 px-4 pt-3 pb-2">
        <h2 className="min-w-0 font-medium">
          {environment === undefined ? (
            name
          ) : (
            <EnvironmentBadge environment={environment} className="max-w-full" />
          )}
        </h2>
        <p className="shrink-0 text-ink-2">
          <strong className="text-lg font-semibold text-ink">{streams}</strong>{' '}
          {streams === 1 ? 'stream' : 'streams'}
          {streams > 0 && ` on ${nodesText(nodes)}`}
        </p>
      </div>
      {keys.length === 0 ? (
        <p className="border-t border-line px-4 py-3 text-ink-3">No key reads this environment.</p>
      ) : (
        <ul className="border-t border-line" aria-label={`Keys of ${name}`}>
          {keys.map((key) => (
            <li
              key={key.id}
              className="flex flex-wrap items-baseline gap-x-3 px-4 py-2 not-first:border-t not-first:border-line"
            >
              <span className="min-w-0 flex-1 break-words">
                {key.name}{' '}
                {key.lastFour !== '' && (
                  <code className="font-mono text-xs whitespace-nowrap text-ink-3">…{key.lastFour}</code>
                )}
              </span>
              <span className="text-xs text-ink-3">
                {key.streams > 0
                  ? 'connected'
                  : key.lastSeenAt === undefined
                    ? 'not connected'
                    : 'last seen '}
                {key.streams === 0 && key.lastSeenAt !== undefined && <TimeAgo at={key.lastSeenAt} />}
              </span>
              <span className="min-w-16 text-right text-ink-2">
                {key.streams} {key.streams === 1 ? 'stream' : 'streams'}
                {key.nodes > 1 && `, ${nodesText(key.nodes)}`}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function nodesText(nodes: number): string {
  return nodes === 1 ? '1 node' : `${nodes} nodes`;
}
