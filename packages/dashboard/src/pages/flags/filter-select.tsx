import type { ComponentProps } from 'react';
import { classNames } from '../../components/class-names.ts';

/** A native choice that filters; `label` says what is chosen. Marked while something is. */
export function FilterSelect({
  label,
  className,
  ...rest
}: Omit<ComponentProps<'select'>, 'aria-label'> & { label: string }) {
  const isSet = rest.value !== undefined && rest.value !== '';
  return (
    <select
      aria-label={label}
      title={label}
      className={classNames(
        'h-8 max-w-44 min-w-0 rounded-md border bg-surface px-2 pr-1',
        isSet ? 'border-accent text-ink' : 'border-line text-ink-2',
        className,
      )}
      {...rest}
    />
  );
}
