import Lock from 'lucide-react/icons/lock';
import type { EnvironmentColor } from '../api/types.ts';
import { classNames } from './class-names.ts';

/** The classes that fill a mark with an environment's color, which forced colors leave as it is: it only helps the name. */
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

/** An environment: its colour, its name, and a lock where it is protected. */
export function EnvironmentBadge({
  environment,
  className,
}: {
  environment: { readonly name: string; readonly color: EnvironmentColor; readonly protected: boolean };
  className?: string;
}) {
  return (
    <span className={classNames('inline-flex min-w-0 items-center gap-1.5', className)}>
      <span
        aria-hidden
        className={classNames('size-2 shrink-0 rounded-full', ENVIRONMENT_FILL[environment.color])}
      />
      <span className="truncate">{environment.name}</span>
      {environment.protected && (
        <Lock size={12} className="shrink-0 text-ink-3" aria-label="protected" role="img" />
      )}
    </span>
  );
}
