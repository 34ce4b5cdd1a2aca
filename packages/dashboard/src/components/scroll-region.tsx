import type { ComponentProps } from 'react';

/** A part of the screen that scrolls by itself, also with the keyboard; `label` says what is in it. */
export function ScrollRegion({ label, ...rest }: ComponentProps<'section'> & { label: string }) {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
      tabIndex={0}
      {...rest}
    />
  );
}
