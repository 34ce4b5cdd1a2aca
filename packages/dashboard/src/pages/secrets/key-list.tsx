import { useMemo } from 'react';
import { countOpenStreams, useClients, useLivePresence } from '../../api/clients.ts';
import { revokeKey } from '../../api/keys.ts';
import { queryKeys } from '../../api/query-cache.ts';
import type { EnvironmentClients, KeyRecord, ProjectRecord } from '../../api/types.ts';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { closedStreamsText } from '../../components/closed-streams.ts';
import { useEnvironmentFilter } from '../../components/environment-filter.tsx';
import { LifeList } from '../../components/life-list.tsx';
import { LifeBadge, LifeCells } from '../../components/lifetime.tsx';
import { RevokeActions } from '../../components/revoke.tsx';
import { RecordCell, RecordHead, RecordRow } from '../../components/tables.tsx';
import { messages } from './key-messages.tsx';

/** The keys of a project in a table with a filter. */
export function KeyList({
  project,
  keys,
  canChange,
}: {
  project: ProjectRecord;
  keys: readonly KeyRecord[];
  canChange: boolean;
}) {
  const streams = useKeyStreams(project.name);
  const [only] = useEnvironmentFilter(project.name);
  return (
    <LifeList
      label={messages.list}
      filterLabel={messages.find}
      columns={messages.columns}
      items={only === undefined ? keys : keys.filter(({ environments }) => environments.includes(only.name))}
      statusOf={({ status }) => status}
      textsOf={({ name, lastFour, environments }) => [name, lastFour, ...environments]}
    >
      {(key) => (
        <KeyRow
          key={key.id}
          project={project}
          record={key}
          streams={streams && (streams.get(key.id) ?? 0)}
          canChange={canChange}
        />
      )}
    </LifeList>
  );
}

/** How many streams each key has open now, by id, as the event stream reports; `undefined` while it is not known. */
function useKeyStreams(project: string): ReadonlyMap<string, number> | undefined {
  const { data } = useClients(project);
  useLivePresence(project);
  return useMemo(() => data && streamsByKey(data), [data]);
}

function streamsByKey(environments: readonly EnvironmentClients[]): ReadonlyMap<string, number> {
  const byKey = new Map<string, number>();
  for (const { id, streams } of environments.flatMap(({ keys }) => keys)) {
    byKey.set(id, (byKey.get(id) ?? 0) + streams);
  }
  return byKey;
}

function KeyRow({
  project,
  record,
  streams,
  canChange,
}: {
  project: ProjectRecord;
  record: KeyRecord;
  streams: number | undefined;
  canChange: boolean;
}) {
  const { id, name, lastFour, status } = record;
  const environments = inOrder(record.environments, project);
  const [, statusColumn, environmentsColumn, streamsColumn] = messages.columns;
  return (
    <RecordRow isOver={status !== 'active'}>
      <RecordHead>
        <span className="block font-medium">{name}</span>
        <span className="font-mono text-xs text-ink-3">proj_live_…{lastFour}</span>
      </RecordHead>
      <RecordCell label={statusColumn.label}>
        <LifeBadge status={status} expiresAt={record.expiresAt} />
      </RecordCell>
      <RecordCell label={environmentsColumn.label}>
        <KeyEnvironments project={project} names={environments} />
      </RecordCell>
      <RecordCell label={streamsColumn.label}>
        {streams ?? <span className="text-ink-3">{messages.loading}</span>}
      </RecordCell>
      <LifeCells record={record} />
      <RevokeActions
        name={name}
        isPossible={canChange && status !== 'revoked'}
        texts={messages}
        body={async () => {
          const streams = closedStreamsText(await countOpenStreams(project.name, { key: id }));
          return messages.revokeBody(lastFour, environments, streams);
        }}
        run={() => revokeKey(id)}
        stale={[queryKeys.keys(project.name), queryKeys.clients(project.name)]}
      />
    </RecordRow>
  );
}

/** The names in the order of the project's environments, and the deleted ones after them. */
function inOrder(names: readonly string[], { environments }: ProjectRecord): readonly string[] {
  const known = environments.map(({ name }) => name).filter((name) => names.includes(name));
  return [...known, ...names.filter((name) => !known.includes(name))];
}

/** How many environments are shown at first. */
const MOST = 4;

/** The environments that a key can read, including deleted ones. */
function KeyEnvironments({ project, names }: { project: ProjectRecord; names: readonly string[] }) {
  // Hiding a single one would save no space.
  const shown = names.length > MOST + 1 ? MOST : names.length;
  return (
    <>
      <EnvironmentNames project={project} names={names.slice(0, shown)} />
      {shown < names.length && (
        <details>
          <summary className="flex min-h-6 w-fit cursor-pointer items-center text-accent">
            {messages.moreEnvironments(names.length - shown)}
          </summary>
          <EnvironmentNames project={project} names={names.slice(shown)} />
        </details>
      )}
    </>
  );
}

function EnvironmentNames({ project, names }: { project: ProjectRecord; names: readonly string[] }) {
  return (
    <ul className="flex flex-wrap gap-x-3 gap-y-0.5">
      {names.map((name) => {
        const environment = project.environments.find((each) => each.name === name);
        return (
          <li key={name} className="max-w-full">
            {environment === undefined ? (
              <span className="text-ink-3">{messages.deletedEnvironment(name)}</span>
            ) : (
              <EnvironmentBadge environment={environment} className="max-w-full" />
            )}
          </li>
        );
      })}
    </ul>
  );
}
