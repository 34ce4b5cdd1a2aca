import type { ComponentProps } from 'react';
import { classNames } from './class-names.ts';
import { ScrollRegion } from './scroll-region.tsx';

/** A plain table in a frame of its own that scrolls sideways where it must. `label` names it. */
export function Table({ label, className, ...rest }: ComponentProps<'table'> & { label: string }) {
  return (
    <ScrollRegion label={label} className="overflow-x-auto rounded-lg border border-line bg-surface">
      <table className={classNames('w-full border-collapse text-left', className)} {...rest} />
    </ScrollRegion>
  );
}

/** A column's head. */
export function Th({ className, ...rest }: ComponentProps<'th'>) {
  return (
    <th
      scope="col"
      className={classNames('h-9 px-3 text-xs font-medium whitespace-nowrap text-ink-3', className)}
      {...rest}
    />
  );
}

/** A row that answers to the pointer. */
export function Tr({ className, ...rest }: ComponentProps<'tr'>) {
  return <tr className={classNames('border-t border-line hover:bg-hover', className)} {...rest} />;
}

/** A cell. */
export function Td({ className, ...rest }: ComponentProps<'td'>) {
  return <td className={classNames('h-11 px-3 align-middle', className)} {...rest} />;
}
