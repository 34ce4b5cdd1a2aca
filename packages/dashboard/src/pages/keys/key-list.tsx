import type { KeyRecord } from '../../api/keys.ts';
import type { ProjectRecord } from '../../api/types.ts';
import { useSearchState } from '../../api/use-search-state.ts';
import { ListFilter } from '../../components/list-filter.tsx';
import { RecordTable } from '../../components/record-table.tsx';
import { KeyRow } from './key-row.tsx';
import { useKeyStreams } from './use-key-streams.ts';

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
