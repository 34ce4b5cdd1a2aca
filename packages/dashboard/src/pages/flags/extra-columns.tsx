import type { ComponentType } from 'react';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { useOwnerName } from '../../components/people-picker.tsx';
import { LastChange, LastRead } from './flag-name.tsx';
import { messages } from './messages.ts';

/** A column of the flag list beside those of the environments. */
export interface ExtraColumn {
  /** In stored choices. A colon is not allowed in names of environments. */
  readonly name: ':owner' | ':read' | ':changed';
  /** In the menu of columns. */
  readonly label: string;
  /** Over the column. */
  readonly head: string;
  /** What the list is sorted by at a click on the head, if it can be. */
  readonly sortKey?: 'read' | 'changed';
  readonly widthPx: number;
  readonly align?: 'right';
  /** Whether it is hidden until the person adds it. */
  readonly isOnRequest?: boolean;
  /** Whether the list of a project can have it. Default: always. */
  readonly isIn?: (project: Pick<ProjectRecord, 'usageSince'>) => boolean;
  readonly Cell: ComponentType<{ readonly flag: FlagRecord }>;
}

const { filters, list } = messages;

/** All of them, from left to right. */
const EXTRA_COLUMNS: readonly ExtraColumn[] = [
  {
    name: ':owner',
    label: filters.ownerColumn,
    head: list.owner,
    widthPx: 150,
    isOnRequest: true,
    Cell: ({ flag }) => <Owner owner={flag.owner} />,
  },
  {
    name: ':read',
    label: filters.readColumn,
    head: list.read,
    sortKey: 'read',
    widthPx: 112,
    align: 'right',
    isIn: countsReads,
    Cell: ({ flag }) => <LastRead flag={flag.key} />,
  },
  {
    name: ':changed',
    label: filters.changedColumn,
    head: list.changed,
    sortKey: 'changed',
    widthPx: 150,
    align: 'right',
    Cell: ({ flag }) => <LastChange flag={flag} className="flex-col items-end leading-4" />,
  },
];

/** Those that the list of a project can have. */
export function extraColumnsOf(project: Pick<ProjectRecord, 'usageSince'>): readonly ExtraColumn[] {
  return EXTRA_COLUMNS.filter(({ isIn }) => isIn?.(project) ?? true);
}

function countsReads({ usageSince }: Pick<ProjectRecord, 'usageSince'>): boolean {
  return usageSince !== undefined;
}

function Owner({ owner }: { owner: string }) {
  const name = useOwnerName()(owner);
  return (
    <span className="block truncate text-xs text-ink-2" title={owner}>
      {name}
    </span>
  );
}
