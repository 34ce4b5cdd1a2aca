import { useRef } from 'react';
import { cardHeight, FlagCard } from './flag-card.tsx';
import type { FlagListProps } from './flag-table.tsx';
import { OPEN_ROW, useRowKeys } from './use-row-keys.ts';
import { useWindowedRows } from './use-windowed-rows.ts';

/** The flags on a narrow screen: a card for each. */
export function FlagCards({ project, flags, selection }: FlagListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const list = { count: flags.length, heightPx: cardHeight(project.environments.length), topPx: 0 };
  const rows = useWindowedRows(scroller, list);
  useRowKeys(scroller, list);
  return (
    <div
      ref={scroller}
      className="relative min-h-0 flex-1 overflow-y-auto border-t border-line px-3 pt-3"
      data-scroller
      {...OPEN_ROW}
    >
      <ul aria-label={`Flags of ${project.name}`}>
        <li aria-hidden style={{ height: rows.before }} />
        {flags.slice(rows.first, rows.end).map((flag, index) => (
          <FlagCard
            key={flag.key}
            project={project}
            flag={flag}
            index={rows.first + index}
            heightPx={list.heightPx}
            isChosen={selection?.keys.has(flag.key) ?? false}
            onChoose={selection?.toggle}
          />
        ))}
        <li aria-hidden style={{ height: rows.after }} />
      </ul>
    </div>
  );
}
