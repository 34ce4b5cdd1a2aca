import { type RefObject, useCallback, useMemo } from 'react';
import type { EnvironmentRecord } from '../../api/types.ts';
import { useClientWidth, useWindow } from '../../components/windowing.ts';
import type { Columns } from './column-choice.ts';

/** The widths of the columns, in pixels. At least 296 are left for the key itself, and more in wide windows. */
export const WIDTHS = {
  check: 44,
  leastKey: 320,
  mostKey: 560,
  leastState: 164,
} as const;

/** The classes of cells that stay at the left; the edge shows while other columns are below it. */
export const STAYS = 'sticky z-10 bg-inherit';
export const EDGE = 'group-data-scrolled/table:shadow-[1px_0_0_var(--line),6px_0_8px_-6px_rgb(0_0_0/0.25)]';

/** What is drawn of the columns. The same object until something of it changes. */
export interface DrawnColumns {
  readonly hasCheck: boolean;
  /** Whether the column of the key is the last one that stays, so that the others scroll under its edge. */
  readonly isKeyLast: boolean;
  /** The columns of the environments, the pinned ones first; gaps take the place of those that are not in view. */
  readonly slots: readonly (PlacedColumn | Gap)[];
  readonly extra: Columns['extra'];
  /** The place of the first of those among all columns, from 1. */
  readonly extraAriaIndex: number;
}

/** The column of an environment. */
export interface PlacedColumn {
  /** The name of the environment. */
  readonly key: string;
  readonly environment: EnvironmentRecord;
  /** Its place among the environments, from 0, and among all columns, from 1. */
  readonly index: number;
  readonly ariaIndex: number;
  /** Where a pinned column stays, in pixels; `undefined` if it scrolls. */
  readonly leftPx: number | undefined;
  /** Whether the others scroll under its edge. */
  readonly isLast: boolean;
}

interface Gap {
  readonly key: ':before' | ':after';
  readonly widthPx: number;
}

/** Whether a slot stands for columns that are not in view. */
export function isGap(slot: PlacedColumn | Gap): slot is Gap {
  return 'widthPx' in slot;
}

/** Widths in pixels. */
interface Sizes {
  readonly keyPx: number;
  readonly statePx: number;
  readonly totalPx: number;
  /** How far the columns reach that stay at the left. */
  readonly stickyPx: number;
  /** How many of the pinned columns stay: all, or none. */
  readonly staying: number;
}

/** The columns are as wide as their share of the window, and scroll where that would be too narrow. */
export function useDrawnColumns(
  scroller: RefObject<HTMLDivElement | null>,
  columns: Columns,
  { hasCheck }: { readonly hasCheck: boolean },
) {
  const { environments, pinned } = columns;
  const width = useClientWidth(scroller) ?? innerWidth;
  const sizes = useMemo(() => sizesOf(columns, width, hasCheck), [columns, width, hasCheck]);
  const { statePx, stickyPx } = sizes;

  const { first, end, before, after } = useWindow(scroller, {
    axis: 'x',
    count: environments.length - pinned,
    sizePx: statePx,
    startPx: stickyPx,
    spare: 2,
  });
  const drawn = useMemo(
    () => drawnOf(columns, sizes, { hasCheck, first, end, before, after }),
    [columns, sizes, hasCheck, first, end, before, after],
  );

  const showColumn = useCallback(
    (column: number) => {
      const element = scroller.current;
      if (element === null || column < pinned) return;

      const left = (column - pinned) * statePx;
      const right = stickyPx + left + statePx;
      if (left < element.scrollLeft) element.scrollLeft = left;
      else if (right > element.scrollLeft + element.clientWidth)
        element.scrollLeft = right - element.clientWidth;
    },
    [scroller, pinned, statePx, stickyPx],
  );

  return { drawn, sizes, showColumn };
}

function sizesOf({ environments, pinned, extra }: Columns, width: number, hasCheck: boolean): Sizes {
  const leastKeyPx = Math.round(Math.max(WIDTHS.leastKey, Math.min(WIDTHS.mostKey, width * 0.28)));
  const checkPx = hasCheck ? WIDTHS.check : 0;
  const besidePx = extra.reduce((sum, { widthPx }) => sum + widthPx, checkPx);
  const sharePx = Math.floor((width - besidePx - leastKeyPx) / Math.max(1, environments.length));
  const statePx = Math.max(WIDTHS.leastState, sharePx);
  const statesPx = environments.length * statePx;
  const totalPx = Math.max(width, besidePx + leastKeyPx + statesPx);

  // Where pinned columns would cover most of the window, they come first but scroll.
  const startPx = checkPx + leastKeyPx;
  const staying = startPx + (pinned + 1) * statePx <= width ? pinned : 0;
  return {
    // The key takes what is left of the window.
    keyPx: totalPx - besidePx - statesPx,
    statePx,
    totalPx,
    stickyPx: startPx + staying * statePx,
    staying,
  };
}

interface View {
  readonly hasCheck: boolean;
  /** Of the columns that are not pinned, the ones in view, and the width of the others. */
  readonly first: number;
  readonly end: number;
  readonly before: number;
  readonly after: number;
}

function drawnOf(
  { environments, pinned, extra }: Columns,
  { keyPx, statePx, staying }: Sizes,
  { hasCheck, first, end, before, after }: View,
): DrawnColumns {
  const startPx = (hasCheck ? WIDTHS.check : 0) + keyPx;
  const firstAria = hasCheck ? 3 : 2;
  const placed = environments.map((environment, index): PlacedColumn => {
    return {
      key: environment.name,
      environment,
      index,
      ariaIndex: index + firstAria,
      leftPx: index < staying ? startPx + index * statePx : undefined,
      isLast: index === staying - 1,
    };
  });

  const slots: (PlacedColumn | Gap)[] = placed.slice(0, pinned);
  if (before > 0) slots.push({ key: ':before', widthPx: before });
  slots.push(...placed.slice(pinned + first, pinned + end));
  if (after > 0) slots.push({ key: ':after', widthPx: after });
  const extraAriaIndex = environments.length + firstAria;
  return { hasCheck, isKeyLast: staying === 0, slots, extra, extraAriaIndex };
}
