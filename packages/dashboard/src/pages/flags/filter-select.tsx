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
        'h-8 max-w-44 min-w-0 rounded-md border px-1.5 [field-sizing:content]',
        isSet
          ? 'border-accent bg-accent-soft text-ink'
          : 'border-transparent bg-bg text-ink-2 hover:bg-hover hover:text-ink',
        className,
      )}
      {...rest}
    />
  );
}
