import { useMemo } from 'react';
import { countOpenStreams, useClients, useLivePresence } from '../../api/clients.ts';
import { type KeyRecord, revokeKey } from '../../api/keys.ts';
import { queryKeys } from '../../api/query-cache.ts';
import type { EnvironmentClients, ProjectRecord } from '../../api/types.ts';
import { useSearchState } from '../../api/use-search-state.ts';
import { useAction } from '../../changes/actions.tsx';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { useConfirm } from '../../components/confirm.tsx';
import { closedStreamsText } from '../../components/delivery-proof.tsx';
import { LifeBadge, LifeCells } from '../../components/lifetime.tsx';
import { ListFilter } from '../../components/list-filter.tsx';
import { RecordActions, RecordCell, RecordHead, RecordRow, RecordTable } from '../../components/tables.tsx';

const COLUMNS = [
  { label: 'Key' },
  { label: 'Status' },
  { label: 'Environments' },
  { label: 'Open streams' },
  { label: 'Last used' },
  { label: 'Created' },
  { label: 'Expires' },
  { label: 'Actions', isSilent: true },
] as const;

/** The keys in a table, with a filter that stands in the address. */
export function KeyList({
  project,
  keys,
  canChange,
}: {
  project: ProjectRecord;
  keys: readonly KeyRecord[];
  canChange: boolean;
}) {
  const [search] = useSearchState();
  const streams = useKeyStreams(project.name);
  const [query, status] = [search.get('q')?.toLowerCase() ?? '', search.get('status') ?? ''];
  const found = keys.filter(
    (key) => (status === '' || key.status === status) && textOf(key).some((text) => text.includes(query)),
  );
  return (
    <>
      <ListFilter
        label="Find a key"
        statuses={['active', 'expired', 'revoked']}
        shown={found.length}
        total={keys.length}
      />
      {found.length > 0 && (
        <RecordTable label="Keys" columns={COLUMNS}>
          {found.map((key) => (
            <KeyRow
              key={key.id}
              project={project}
              record={key}
              streams={streams && (streams.get(key.id) ?? 0)}
              canChange={canChange}
            />
          ))}
        </RecordTable>
      )}
    </>
  );
}

function textOf({ name, lastFour, environments }: KeyRecord): readonly string[] {
  return [name, lastFour, ...environments].map((text) => text.toLowerCase());
}

/** One key. */
function KeyRow({
  project,
  record,
  streams,
  canChange,
}: {
  project: ProjectRecord;
  record: KeyRecord;
  /** Open at the moment; `undefined` while it is not known. */
  streams: number | undefined;
  canChange: boolean;
}) {
  const revoke = useRevokeKey(project.name);
  const { name, lastFour, status } = record;
  return (
    <RecordRow isOver={status !== 'active'}>
      <RecordHead>
        <span className="block font-medium">{name}</span>
        <span className="font-mono text-xs text-ink-3">proj_live_…{lastFour}</span>
      </RecordHead>
      <RecordCell label="Status">
        <LifeBadge status={status} expiresAt={record.expiresAt} />
      </RecordCell>
      <RecordCell label="Environments">
        <KeyEnvironments project={project} names={record.environments} />
      </RecordCell>
      <RecordCell label="Open streams">{streams ?? <span className="text-ink-3">…</span>}</RecordCell>
      <LifeCells record={record} />
      <RecordActions>
        {canChange && status !== 'revoked' && (
          <Button aria-label={`Revoke ${name}`} onClick={() => void revoke(record)}>
            Revoke
          </Button>
        )}
      </RecordActions>
    </RecordRow>
  );
}

/** As many are shown at once; the others when they are asked for. */
const MOST = 4;

/** The environments that a key opens; one that is gone is named all the same. */
function KeyEnvironments({ project, names }: { project: ProjectRecord; names: readonly string[] }) {
  // One more than fit is no reason to hide it.
  const shown = names.length > MOST + 1 ? MOST : names.length;
  return (
    <>
      <List project={project} names={names.slice(0, shown)} />
      {shown < names.length && (
        <details>
          <summary className="flex min-h-6 w-fit cursor-pointer items-center text-accent">
            and {names.length - shown} more
          </summary>
          <List project={project} names={names.slice(shown)} />
        </details>
      )}
    </>
  );
}

function List({ project, names }: { project: ProjectRecord; names: readonly string[] }) {
  return (
    <ul className="flex flex-wrap gap-x-3 gap-y-0.5">
      {names.map((name) => {
        const environment = project.environments.find((each) => each.name === name);
        return (
          <li key={name} className="max-w-full">
            {environment === undefined ? (
              <span className="text-ink-3">{name} (deleted)</span>
            ) : (
              <EnvironmentBadge environment={environment} className="max-w-full" />
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** Asks, by the key's name, and revokes it. */
function useRevokeKey(project: string): (key: KeyRecord) => Promise<void> {
  const confirm = useConfirm();
  const perform = useAction();
  return async (key) => {
    const { id, name } = key;
    const streams = await countOpenStreams(project, { key: id });
    const isConfirmed = await confirm({
      title: `Revoke ${name}?`,
      body: <RevokeText record={key} streams={streams} />,
      action: 'Revoke the key',
      isDangerous: true,
      typed: name,
    });
    if (!isConfirmed) return;
    await perform({
      run: () => revokeKey(id),
      done: `The key ${name} is revoked`,
      failed: `The key ${name} was not revoked`,
      stale: [queryKeys.keys(project), queryKeys.clients(project)],
    });
  };
}

function RevokeText({ record, streams }: { record: KeyRecord; streams: number | undefined }) {
  const { lastFour, environments } = record;
  return (
    <>
      <p>
        Every request with the key <span className="font-mono text-xs">…{lastFour}</span> for{' '}
        {environments.join(', ')} is refused from now on. {closedStreamsText(streams)} It cannot be undone.
      </p>
      <p className="mt-2">Applications that still use it fall back to their defaults.</p>
    </>
  );
}

/** How many streams each key has open at the moment, by id; kept new. `undefined` while it is not known. */
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
