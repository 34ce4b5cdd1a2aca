import { type ReactNode, useRef } from 'react';
import { classNames } from './class-names.ts';
import { useScreen } from './screen.ts';

/** The frame of a screen: its heading, its actions, and the title of the window. */
export function Page({
  title,
  heading,
  actions,
  intro,
  children,
  className,
}: {
  /** Goes into the window's title. */
  title: string;
  /** Default: the title. */
  heading?: ReactNode;
  actions?: ReactNode;
  intro?: ReactNode;
  children: ReactNode;
  className?: string;
}) {
  const root = useRef<HTMLDivElement>(null);
  useScreen(root, title);
  return (
    <div
      ref={root}
      className={classNames('mx-auto w-full max-w-6xl px-4 pt-5 pb-24 sm:px-6 sm:pb-5', className)}
    >
      <div className="mb-4 flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <h1
          tabIndex={-1}
          className={classNames(
            'text-xl font-semibold outline-none',
            actions !== undefined && 'max-w-[calc(100%-4rem)]',
          )}
        >
          {heading ?? title}
        </h1>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
      {intro !== undefined && <p className="-mt-2 mb-4 max-w-2xl text-ink-2">{intro}</p>}
      {children}
    </div>
  );
}
