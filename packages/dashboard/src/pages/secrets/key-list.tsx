import { useMemo } from 'react';
import { countOpenStreams, useClients, useLivePresence } from '../../api/clients.ts';
import { revokeKey } from '../../api/keys.ts';
import { queryKeys } from '../../api/query-cache.ts';
import type { EnvironmentClients, KeyRecord, ProjectRecord } from '../../api/types.ts';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { closedStreamsText } from '../../components/closed-streams.ts';
import { useEnvironmentFilter } from '../../components/environment-filter.tsx';
import { LifeCells } from '../../components/lifetime.tsx';
import { RecordCell } from '../../components/tables.tsx';
import { keyTexts as texts } from './messages.tsx';
import { SecretList, SecretRow } from './secret-list.tsx';

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
    <SecretList
      texts={texts}
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
    </SecretList>
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

const [, , environmentsColumn, streamsColumn] = texts.columns;

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
  const { id, lastFour, status } = record;
  const environments = inOrder(record.environments, project);

  return (
    <SecretRow
      texts={texts}
      record={record}
      status={status}
      detail={<span className="font-mono text-xs text-ink-3">proj_live_…{lastFour}</span>}
      canChange={canChange}
      question={async () => {
        const streams = closedStreamsText(await countOpenStreams(project.name, { key: id }));
        return texts.revokeBody(lastFour, environments, streams);
      }}
      revoke={() => revokeKey(id)}
      stale={[queryKeys.keys(project.name), queryKeys.clients(project.name)]}
    >
      <RecordCell label={environmentsColumn.label}>
        <KeyEnvironments project={project} names={environments} />
      </RecordCell>
      <RecordCell label={streamsColumn.label}>
        {streams ?? <span className="text-ink-3">{texts.loading}</span>}
      </RecordCell>
      <LifeCells record={record} />
    </SecretRow>
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
            {texts.moreEnvironments(names.length - shown)}
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
              <span className="text-ink-3">{texts.deletedEnvironment(name)}</span>
            ) : (
              <EnvironmentBadge environment={environment} className="max-w-full" />
            )}
          </li>
        );
      })}
    </ul>
  );
}
