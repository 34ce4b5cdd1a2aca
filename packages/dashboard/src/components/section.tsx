import { type ReactNode, useId } from 'react';
import { Link } from 'wouter';
import { classNames } from './class-names.ts';

/** The classes of a box on a screen. */
export const BOX = 'rounded-lg border border-line bg-surface';

/** A part of a screen below its heading, which names it. */
export function Section({
  title,
  isBoxed = false,
  className,
  children,
}: {
  title: ReactNode;
  /** Whether there is a frame around it. */
  isBoxed?: boolean;
  className?: string;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <section aria-labelledby={id} className={classNames(isBoxed && `${BOX} p-4`, className)}>
      <h2 id={id} className={classNames('text-base font-semibold', !isBoxed && 'mb-2')}>
        {title}
      </h2>
      {children}
    </section>
  );
}

/** The heading of one record: `children`, after the link to the list of all. */
export function RecordHeading({ list, to, children }: { list: string; to: string; children: ReactNode }) {
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-x-1.5 gap-y-1">
      <Link
        href={to}
        className="-my-0.5 inline-flex min-h-6 items-center text-sm font-normal text-ink-3 hover:text-ink hover:underline"
      >
        {list}
      </Link>
      <span aria-hidden className="text-sm font-normal text-line-strong">
        /
      </span>
      {children}
    </span>
  );
}
