import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

/** What a word is about. */
export type BadgeKind = 'good' | 'warn' | 'over' | 'plain';

const KINDS: Readonly<Record<BadgeKind, string>> = {
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  over: 'border border-line text-ink-3',
  plain: 'bg-hover text-ink-2',
};

/** A word that tells the state of a record. */
export function Badge({ kind = 'plain', children }: { kind?: BadgeKind; children: ReactNode }) {
  return (
    <span
      className={classNames(
        'inline-flex h-5 items-center rounded px-1.5 text-xs font-medium whitespace-nowrap',
        KINDS[kind],
      )}
    >
      {children}
    </span>
  );
}
