import { type RefObject, useRef } from 'react';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { classNames } from '../../components/class-names.ts';
import { FlagRow } from './flag-row.tsx';
import { FlagTableHead } from './flag-table-head.tsx';
import { OPEN_ROW, useRowKeys } from './use-row-keys.ts';
import type { Selection } from './use-selection.ts';
import { useWindowedRows } from './use-windowed-rows.ts';

/** What a list of flags is drawn from. */
export interface FlagListProps {
  readonly project: ProjectRecord;
  readonly flags: readonly FlagRecord[];
  readonly density: 'comfortable' | 'compact';
  /** `undefined` where nothing can be done to many. */
  readonly selection: Selection | undefined;
  readonly scroller?: RefObject<HTMLElement | null>;
}

const HEAD_PX = 36;
const ROW_PX = { comfortable: 54, compact: 38 } as const;

/** A row for each flag, a column for each environment. */
export function FlagTable({ project, flags, density, selection }: FlagListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const list = { count: flags.length, heightPx: ROW_PX[density], topPx: HEAD_PX };
  const rows = useWindowedRows(scroller, list);
  useRowKeys(scroller, list);
  const columns = project.environments.length;
  return (
    <div
      ref={scroller}
      className="relative min-h-0 flex-1 overflow-auto border-t border-line bg-surface"
      data-scroller
      {...OPEN_ROW}
    >
      <table
        className="w-full table-fixed border-separate border-spacing-0 text-left"
        style={{ minWidth: 510 + columns * 170 }}
        aria-rowcount={flags.length + 1}
        aria-label={`Flags of ${project.name}`}
      >
        <colgroup>
          {selection && <col style={{ width: 44 }} />}
          <col style={{ width: columns > 4 ? 'clamp(18rem, 22vw, 26rem)' : '32%' }} />
          {project.environments.map(({ name }) => (
            <col key={name} />
          ))}
          <col style={{ width: 170 }} />
        </colgroup>
        <FlagTableHead project={project} flags={flags} selection={selection} heightPx={HEAD_PX} />
        <tbody className={classNames(rows.before > 0 && 'scrolled')}>
          <tr aria-hidden style={{ height: rows.before }} />
          {flags.slice(rows.first, rows.end).map((flag, index) => (
            <FlagRow
              key={flag.key}
              project={project}
              flag={flag}
              index={rows.first + index}
              heightPx={list.heightPx}
              isChosen={selection?.keys.has(flag.key) ?? false}
              onChoose={selection?.toggle}
            />
          ))}
          <tr aria-hidden style={{ height: rows.after }} />
        </tbody>
      </table>
    </div>
  );
}
