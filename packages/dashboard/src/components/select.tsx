import type { ComponentProps } from 'react';
import { classNames } from './class-names.ts';
import { CONTROL } from './field.tsx';

/** A native choice with a label that only screen readers hear; `label` says what is chosen. */
export function Select({
  label,
  className,
  ...rest
}: Omit<ComponentProps<'select'>, 'aria-label'> & { label: string }) {
  return <select aria-label={label} className={classNames(CONTROL, 'pr-1', className)} {...rest} />;
}
