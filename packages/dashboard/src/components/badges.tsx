import type { LucideIcon } from 'lucide-react';
import Check from 'lucide-react/icons/check';
import CircleAlert from 'lucide-react/icons/circle-alert';
import LoaderCircle from 'lucide-react/icons/loader-circle';
import Lock from 'lucide-react/icons/lock';
import type { ReactNode } from 'react';
import { usePersonName } from '../api/operators.ts';
import type { WriteStatus } from '../api/state-writes.ts';
import type { EnvironmentColor } from '../api/types.ts';
import { classNames } from './class-names.ts';

/** The meaning of a badge's color. */
export type BadgeKind = 'good' | 'warn' | 'danger' | 'accent' | 'over' | 'plain';

const KINDS: Readonly<Record<BadgeKind, string>> = {
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  danger: 'bg-danger-soft text-danger',
  accent: 'bg-accent-soft text-accent',
  over: 'border border-line text-ink-3',
  plain: 'bg-hover text-ink-2',
};

/** What a badge looks like. */
export interface BadgeLook {
  readonly kind?: BadgeKind;
  readonly icon?: LucideIcon;
}

/** A word for the status of a record, after an icon if it has one. */
export function Badge({ kind = 'plain', icon: Icon, children }: BadgeLook & { children: ReactNode }) {
  return (
    <span
      className={classNames(
        'inline-flex h-5 items-center gap-1 rounded px-1.5 text-xs font-medium whitespace-nowrap forced-colors:border',
        KINDS[kind],
      )}
    >
      {Icon && <Icon size={13} aria-hidden />}
      {children}
    </span>
  );
}

/** The classes that fill a mark with an environment's color, also with forced colors: the name is always beside it. */
export const ENVIRONMENT_FILL: Readonly<Record<EnvironmentColor, string>> = {
  gray: 'forced-color-adjust-none bg-env-gray',
  blue: 'forced-color-adjust-none bg-env-blue',
  green: 'forced-color-adjust-none bg-env-green',
  amber: 'forced-color-adjust-none bg-env-amber',
  red: 'forced-color-adjust-none bg-env-red',
  violet: 'forced-color-adjust-none bg-env-violet',
  teal: 'forced-color-adjust-none bg-env-teal',
  pink: 'forced-color-adjust-none bg-env-pink',
};

/** What becomes of a name that does not fit: it gets more lines, or is cut, everywhere or only where a pointer may hover. */
export type NameFit = 'wraps' | 'cut' | 'cutIfWide';

const FITS: Readonly<Record<NameFit, string>> = {
  wraps: 'min-w-0 break-words',
  cut: 'truncate',
  cutIfWide: 'min-w-0 max-md:break-words md:truncate',
};

/** An environment: its color, its name, and a lock if it is protected. A name that is cut has the whole one as its title. */
export function EnvironmentBadge({
  environment,
  className,
  fit = 'wraps',
}: {
  environment: { readonly name: string; readonly color: EnvironmentColor; readonly protected: boolean };
  className?: string | undefined;
  fit?: NameFit | undefined;
}) {
  return (
    <span className={classNames('inline-flex max-w-full min-w-0 items-center gap-1.5', className)}>
      <span
        aria-hidden
        className={classNames('size-2 shrink-0 rounded-full', ENVIRONMENT_FILL[environment.color])}
      />
      <span className={FITS[fit]} title={fit === 'wraps' ? undefined : environment.name}>
        {environment.name}
      </span>
      {environment.protected && (
        <Lock size={12} className="shrink-0 text-ink-3" aria-label="protected" role="img" />
      )}
    </span>
  );
}

/** An actor by name; hovering shows the e-mail. `actor` is as in the audit log: `operator:<e-mail>`. */
export function Author({ actor, className }: { actor: string; className?: string }) {
  const { name, detail } = usePersonName()(actor);
  return (
    <span className={classNames('break-words', className)} title={detail ?? name}>
      {name}
    </span>
  );
}

/** The status of a write, beside the written value. Takes the same space without a write. */
export function WriteMark({ status }: { status: WriteStatus | undefined }) {
  return (
    <span className="inline-flex size-3.5 shrink-0" data-write={status}>
      {status === 'saving' && (
        <LoaderCircle size={14} className="animate-turn text-ink-3" role="img" aria-label="saving" />
      )}
      {status === 'saved' && <Check size={14} className="text-good" role="img" aria-label="saved" />}
      {status === 'failed' && (
        <CircleAlert size={14} className="text-danger" role="img" aria-label="failed" />
      )}
    </span>
  );
}
