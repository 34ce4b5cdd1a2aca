import type { ReactNode } from 'react';
import { useSearchState } from '../browser/use-search-state.ts';
import type { LifeStatus } from './lifetime.tsx';
import { ListFilter } from './list-filter.tsx';
import { sortItems, useSort } from './sort.ts';
import { type Column, RecordTable } from './tables.tsx';

const STATUSES = ['active', 'expired', 'revoked'] as const satisfies readonly LifeStatus[];

/**
 * Keys or tokens in a table, active ones first, then by age, or sorted by a column whose `sortKey` is a member of theirs;
 * filtered by the URL (`q` and `status`).
 */
export function LifeList<Item extends { readonly createdAt: string }>({
  label,
  filterLabel,
  columns,
  items,
  statusOf,
  textsOf,
  children,
}: {
  label: string;
  filterLabel: string;
  columns: readonly Column[];
  items: readonly Item[];
  statusOf: (item: Item) => LifeStatus;
  /** The texts that the filter searches. */
  textsOf: (item: Item) => readonly string[];
  /** Renders one row. */
  children: (item: Item) => ReactNode;
}) {
  const [search] = useSearchState();
  const [query, status] = [search.get('q')?.toLowerCase() ?? '', search.get('status') ?? ''];
  const sort = useSort();
  const rank = (item: Item) => (statusOf(item) === 'active' ? 0 : 1);
  const found = items
    .filter((item) => status === '' || statusOf(item) === status)
    .filter((item) => textsOf(item).some((text) => text.toLowerCase().includes(query)))
    .toSorted((one, other) => rank(one) - rank(other) || other.createdAt.localeCompare(one.createdAt));
  return (
    <>
      <ListFilter label={filterLabel} statuses={STATUSES} shown={found.length} total={items.length} />
      {found.length > 0 && (
        <RecordTable label={label} columns={columns} sort={sort}>
          {sortItems(found, sort, memberOf).map(children)}
        </RecordTable>
      )}
    </>
  );
}

function memberOf(item: object, name: string): unknown {
  const value: unknown = Object.entries(item).find(([key]) => key === name)?.[1];
  return Array.isArray(value) ? value.join(' ') : value;
}
