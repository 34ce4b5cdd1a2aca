import type { ComponentProps } from 'react';
import { classNames } from './class-names.ts';

/** A part of the screen that scrolls by itself, also with the keyboard; `label` says what is in it. */
export function ScrollRegion({ label, className, ...rest }: ComponentProps<'section'> & { label: string }) {
  return (
    <section
      aria-label={label}
      // Without `relative`, hidden text inside would be placed against the screen and make that scroll.
      className={classNames('relative', className)}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
      tabIndex={0}
      {...rest}
    />
  );
}
