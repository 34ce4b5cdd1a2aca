import type { ComponentProps } from 'react';
import { classNames } from './class-names.ts';
import { INPUT } from './field.tsx';

/** A native choice with a label that only screen readers hear; `label` says what is chosen. */
export function Select({
  label,
  className,
  ...rest
}: Omit<ComponentProps<'select'>, 'aria-label'> & { label: string }) {
  return <select aria-label={label} className={classNames(INPUT, 'w-auto pr-1', className)} {...rest} />;
}
