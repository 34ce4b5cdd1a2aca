import type { ComponentProps } from 'react';
import { classNames } from './class-names.ts';

/**
 * A native switch. `label` is the accessible name, such as "new-checkout in production". Show the state in words beside
 * it where there is space.
 */
export function Switch({
  label,
  className,
  ...rest
}: Omit<ComponentProps<'input'>, 'type' | 'role'> & { label: string }) {
  return (
    <span className={classNames('relative isolate inline-flex h-6 w-8.5 shrink-0 items-center', className)}>
      <input
        type="checkbox"
        // biome-ignore lint/a11y/useAriaPropsForRole: a native checkbox already exposes whether it is checked
        role="switch"
        aria-label={label}
        className="peer absolute inset-0 z-10 cursor-pointer appearance-none rounded-full disabled:cursor-not-allowed"
        {...rest}
      />
      {/* Forced colors remove backgrounds, and show transparent borders. */}
      <span className="h-4.5 w-8.5 rounded-full border border-transparent bg-line-strong transition-colors peer-checked:bg-accent peer-disabled:opacity-50 forced-colors:peer-disabled:border-[GrayText]" />
      <span className="absolute left-0.5 size-3.5 rounded-full bg-surface shadow-sm transition-transform peer-checked:translate-x-4 forced-colors:bg-[CanvasText] forced-colors:peer-disabled:bg-[GrayText]" />
    </span>
  );
}
