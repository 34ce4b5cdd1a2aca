import { useMemo, useState } from 'react';
import { countOpenStreams, useClients, useLivePresence } from '../../api/clients.ts';
import { revokeKey } from '../../api/keys.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { useCan } from '../../api/session.ts';
import type { EnvironmentClients, KeyRecord, ProjectRecord } from '../../api/types.ts';
import { useConfirmedAction } from '../../components/actions.tsx';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { closedStreamsText } from '../../components/closed-streams.ts';
import { useEnvironmentFilter } from '../../components/environment-filter.tsx';
import { LifeCells } from '../../components/lifetime.tsx';
import { RecordCell } from '../../components/tables.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { keyTexts as texts } from './messages.tsx';
import { ReplaceKeyDialog } from './replace-key-dialog.tsx';
import { SecretList, SecretRow } from './secret-list.tsx';

/** The keys of a project in a table with a filter. */
export function KeyList({ project, keys }: { project: ProjectRecord; keys: readonly KeyRecord[] }) {
  const streams = useKeyStreams(project.name);
  const [only] = useEnvironmentFilter(project.name);
  // Here, because the row of a key that was replaced is gone while the new key is shown.
  const [replacing, setReplacing] = useState<KeyRecord>();
  const shown = useMemo(() => shownKeys(keys), [keys]);

  return (
    <>
      <SecretList
        texts={texts}
        items={
          only === undefined ? shown : shown.filter(({ environments }) => environments.includes(only.name))
        }
        statusOf={({ status }) => status}
        textsOf={(key) =>
          [key, ...key.ending].flatMap(({ name, lastFour }) => [name, lastFour, ...key.environments])
        }
      >
        {(key) => (
          <KeyRow
            key={key.id}
            project={project}
            record={key}
            streamsOf={({ id }) => streams && (streams.get(id) ?? 0)}
            onReplace={() => setReplacing(key)}
          />
        )}
      </SecretList>
      {replacing && (
        <ReplaceKeyDialog
          project={project.name}
          record={replacing}
          environments={inOrder(replacing.environments, project)}
          onClose={() => setReplacing(undefined)}
        />
      )}
    </>
  );
}

/** A key with those that it has replaced and that still work, the newest first. */
type ShownKey = KeyRecord & { readonly ending: readonly KeyRecord[] };

/** The keys that have a row: one that was replaced is on the row of the key in its place, as long as both work. */
function shownKeys(keys: readonly KeyRecord[]): readonly ShownKey[] {
  const working = keys.filter(({ status }) => status === 'active');
  const endingBefore = (id: string): readonly KeyRecord[] =>
    working.filter(({ replacedBy }) => replacedBy === id).flatMap((old) => [old, ...endingBefore(old.id)]);

  const heirs = new Set(working.map(({ id }) => id));
  return keys
    .filter(
      ({ status, replacedBy }) => status !== 'active' || replacedBy === undefined || !heirs.has(replacedBy),
    )
    .map((key) => ({ ...key, ending: key.status === 'active' ? endingBefore(key.id) : [] }));
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
  streamsOf,
  onReplace,
}: {
  project: ProjectRecord;
  record: ShownKey;
  /** How many streams a key has open; `undefined` while it is not known. */
  streamsOf: (key: KeyRecord) => number | undefined;
  onReplace: () => void;
}) {
  const { id, name, lastFour, status, ending } = record;
  const environments = inOrder(record.environments, project);
  const stale = [queryKeys.keys(project.name), queryKeys.clients(project.name)];

  const detail = (
    <>
      <span className="font-mono text-xs text-ink-3">proj_live_…{lastFour}</span>
      {ending.map((old) => (
        <EndingKey
          key={old.id}
          project={project.name}
          record={old}
          streams={streamsOf(old)}
          newStreams={streamsOf(record)}
        />
      ))}
    </>
  );

  async function question() {
    const streams = closedStreamsText(await countOpenStreams(project.name, { key: id }));
    return texts.revokeBody(lastFour, environments, streams);
  }

  return (
    <SecretRow
      texts={texts}
      record={record}
      status={status}
      detail={detail}
      canChange={useCan('admin')}
      question={question}
      revoke={() => revokeKey(id)}
      stale={stale}
      actions={
        status === 'active' &&
        environments.length > 0 && (
          <Button aria-label={texts.replaceNamed(name)} onClick={onReplace}>
            {texts.replace}
          </Button>
        )
      }
    >
      <RecordCell label={environmentsColumn.label} className="lg:w-1/4">
        <KeyEnvironments project={project} names={environments} />
      </RecordCell>
      <RecordCell label={streamsColumn.label}>
        {streamsOf(record) ?? <span className="text-ink-3">{texts.loading}</span>}
      </RecordCell>
      <LifeCells record={record} />
    </SecretRow>
  );
}

/** A key that was replaced and still works: who still uses it, when it ends, and the button that ends it now. */
function EndingKey({
  project,
  record: { id, name, lastFour, environments, lastUsedAt, expiresAt },
  streams,
  newStreams,
}: {
  project: string;
  record: KeyRecord;
  streams: number | undefined;
  newStreams: number | undefined;
}) {
  const canEnd = useCan('admin');
  const perform = useConfirmedAction();
  const counted = (count: number | undefined) => (count === undefined ? texts.loading : texts.streams(count));

  async function end(): Promise<void> {
    const closed = closedStreamsText(await countOpenStreams(project, { key: id }));
    await perform({
      ...texts.ending(name),
      body: texts.revokeBody(lastFour, environments, closed),
      isDangerous: true,
      run: () => revokeKey(id),
      stale: [queryKeys.keys(project), queryKeys.clients(project)],
    });
  }

  return (
    <span className="mt-1 flex flex-col items-start gap-y-1 text-xs text-ink-2">
      <span>{texts.newStreams(counted(newStreams))}</span>
      <span>
        {texts.oldStreams(lastFour, counted(streams))}
        {lastUsedAt !== undefined && <>, {texts.lastUsed(<TimeAgo at={lastUsedAt} />)}</>}
        {expiresAt !== undefined && <>, {texts.ends(<TimeAgo at={expiresAt} />)}</>}
      </span>
      {canEnd && (
        <Button aria-label={texts.endNamed(name, lastFour)} onClick={() => void end()}>
          {texts.endNow}
        </Button>
      )}
    </span>
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
              <EnvironmentBadge environment={environment} />
            )}
          </li>
        );
      })}
    </ul>
  );
}
