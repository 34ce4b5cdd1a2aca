import type { QueryKey } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useSearchState } from '../../browser/use-search-state.ts';
import { useConfirmedAction } from '../../components/actions.tsx';
import { Button } from '../../components/button.tsx';
import { LifeBadge, type LifeStatus } from '../../components/lifetime.tsx';
import { ListFilter } from '../../components/list-filter.tsx';
import { sortItems, useSort } from '../../components/sort.ts';
import {
  type Column,
  RecordActions,
  RecordCell,
  RecordHead,
  RecordRow,
  RecordTable,
} from '../../components/tables.tsx';
import { listTexts as messages, type SecretTexts } from './messages.tsx';

/** The filter by status. */
const STATUS = {
  name: 'status',
  label: messages.status,
  className: 'max-w-40',
  none: messages.anyStatus,
  choices: messages.statuses,
};

interface ListTexts {
  readonly list: string;
  readonly find: string;
  /** The second one is the status. */
  readonly columns: readonly Column[];
}

/**
 * Keys or tokens in a table, active ones first, then by age, or sorted by a column whose `sortKey` is a member of theirs;
 * filtered by the URL (`q` and `status`).
 */
export function SecretList<Item extends { readonly createdAt: string }>({
  texts,
  items,
  statusOf,
  textsOf,
  children,
}: {
  texts: ListTexts;
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
      <ListFilter label={texts.find} select={STATUS} shown={found.length} total={items.length} />
      {found.length > 0 && (
        <RecordTable label={texts.list} columns={texts.columns} sort={sort}>
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

/** A key or token: its name, its status, the cells of its kind, and the button that revokes it once its name is typed. */
export function SecretRow({
  texts,
  record: { name, expiresAt },
  status,
  detail,
  canChange = true,
  question,
  revoke,
  stale,
  actions,
  children,
}: {
  texts: ListTexts & SecretTexts;
  record: { readonly name: string; readonly expiresAt?: string };
  status: LifeStatus;
  /** Below the name. */
  detail?: ReactNode;
  canChange?: boolean;
  /** What the question says about the consequences. */
  question: () => ReactNode | Promise<ReactNode>;
  revoke: () => Promise<unknown>;
  /** The lists to read again. */
  stale: readonly QueryKey[];
  /** Buttons before the one that revokes. */
  actions?: ReactNode;
  children: ReactNode;
}) {
  const perform = useConfirmedAction();
  async function askAndRevoke(): Promise<void> {
    await perform({
      ...texts.revoking(name),
      body: await question(),
      isDangerous: true,
      typed: name,
      run: revoke,
      stale,
    });
  }

  return (
    <RecordRow isOver={status !== 'active'}>
      {/* A share, not a least width: the table must fit its frame, which hides what is beyond. */}
      <RecordHead className="lg:w-1/5">
        <span className="block font-medium">{name}</span>
        {detail}
      </RecordHead>
      <RecordCell label={texts.columns[1]?.label ?? ''}>
        <LifeBadge status={status} expiresAt={expiresAt} />
      </RecordCell>
      {children}
      <RecordActions>
        {canChange && actions}
        {canChange && status !== 'revoked' && (
          <Button aria-label={texts.revokeNamed(name)} onClick={() => void askAndRevoke()}>
            {texts.revoke}
          </Button>
        )}
      </RecordActions>
    </RecordRow>
  );
}
