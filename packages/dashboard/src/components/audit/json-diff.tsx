import { defined } from '@halyard/protocol';
import { useMemo, useState } from 'react';
import type { Json } from '../../api/types.ts';
import { classNames } from '../class-names.ts';
import { FoldButton } from '../fold-button.tsx';
import { ScrollRegion } from '../tables.tsx';
import type { Versions } from './diff-fields.ts';
import { cutAround, diffLines, type LinePair } from './diff-lines.ts';
import { messages } from './messages.ts';

/** How many unchanged lines are shown beside changed ones. */
const CONTEXT = 3;

/** Longer lines are cut to where they differ at first: a value may be one text of 64 KiB. */
const LONG = 400;

/** Lines side by side, or a number of unchanged ones that are left out. */
type Row = LinePair | { readonly left: number };

/**
 * Two JSON values as lines, side by side; on narrow screens the old lines above the new ones. Unchanged lines far from a
 * change are left out at first. A side is `undefined` if there was no value.
 */
export function JsonDiff({ label, before, after }: Versions & { label: string }) {
  const [isWhole, setWhole] = useState(false);
  const pairs = useMemo(() => diffLines(linesOf(before), linesOf(after)), [before, after]);
  const rows: readonly Row[] = useMemo(
    () => (isWhole ? pairs : shortened(pairs).map(cutRow)),
    [pairs, isWhole],
  );
  const isCut =
    !isWhole && pairs.some(({ before = '', after = '' }) => before.length > LONG || after.length > LONG);
  const left = rows.reduce((sum, row) => sum + ('left' in row ? row.left : 0), 0);
  const isPair = before !== undefined && after !== undefined;

  return (
    <div>
      <p className="mb-1 text-xs text-ink-3">{label}</p>
      <ScrollRegion
        label={messages.valueOf(label)}
        // No landmark: a change of many flags shows many.
        role="group"
        className="max-h-96 overflow-y-auto rounded-md border border-line bg-bg font-mono text-xs leading-5"
      >
        {rows.map((row, index) => (
          // The rows of a comparison never move.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          <Lines key={index} row={row} isPair={isPair} />
        ))}
      </ScrollRegion>
      {(isWhole || isCut || left > 0) && (
        <FoldButton isOpen={isWhole} onToggle={setWhole}>
          {isWhole ? messages.showLess : messages.showWhole}
        </FoldButton>
      )}
    </div>
  );
}

function Lines({ row, isPair }: { row: Row; isPair: boolean }) {
  if ('left' in row)
    return (
      <p className="border-y border-line bg-hover px-2 text-ink-3">{messages.unchangedLines(row.left)}</p>
    );
  const { before, after, isSame } = row;
  const [Old, Young] = isSame ? (['span', 'span'] as const) : (['del', 'ins'] as const);
  // Unchanged lines keep the place of the mark, so that indentations compare.
  const cell = classNames(
    'block min-w-0 px-2 break-words whitespace-pre-wrap no-underline',
    isSame && "before:content-['__']",
  );

  return (
    <div className={isPair ? 'grid sm:grid-cols-2' : undefined}>
      {(isPair || before !== undefined) && (
        <Old
          className={classNames(
            cell,
            before === undefined && 'max-sm:hidden',
            !isSame &&
              before !== undefined &&
              "bg-danger-soft text-danger before:select-none before:content-['−_']",
          )}
        >
          {before}
        </Old>
      )}
      {(isPair || after !== undefined) && (
        <Young
          className={classNames(
            cell,
            isPair && 'sm:border-l sm:border-line',
            (after === undefined || isSame) && isPair && 'max-sm:hidden',
            !isSame &&
              after !== undefined &&
              "bg-good-soft text-good before:select-none before:content-['+_']",
          )}
        >
          {after}
        </Young>
      )}
    </div>
  );
}

function linesOf(value: Json | undefined): readonly string[] {
  return value === undefined ? [] : JSON.stringify(value, null, 2).split('\n');
}

function cutRow(row: Row): Row {
  if ('left' in row) return row;
  const [before, after] = cutAround(row.before, row.after, LONG);
  return { ...row, ...defined({ before, after }) };
}

/** Leaves out unchanged lines that are not next to a changed one; a gap of a single line is not worth it. */
function shortened(pairs: readonly LinePair[]): readonly Row[] {
  const isShown = pairs.map(() => false);
  for (const [index, { isSame }] of pairs.entries())
    if (!isSame)
      for (let near = Math.max(0, index - CONTEXT); near <= index + CONTEXT && near < pairs.length; near++)
        isShown[near] = true;
  const rows: Row[] = [];
  for (let index = 0; index < pairs.length; ) {
    const end = isShown.indexOf(true, index);
    const gap = (end === -1 ? pairs.length : end) - index;
    if (gap > 1) rows.push({ left: gap });
    index += gap > 1 ? gap : 0;
    const pair = pairs[index];
    if (pair === undefined) break;
    rows.push(pair);
    index++;
  }
  return rows;
}
