import Lock from 'lucide-react/icons/lock';
import { type ReactNode, useRef } from 'react';
import { useRights } from '../api/session.ts';
import { classNames } from './class-names.ts';
import { useScreen } from './restore-place.ts';
import { Skeleton, SkeletonRows } from './screen-states.tsx';

/** The classes of the one column that the header and all screens share: their edges are in line. */
export const GRID = 'mx-auto w-full max-w-420 px-4 sm:px-6';

/** The classes of a screen's heading: the same size and place on all. */
export const HEADING = 'flex min-h-8 items-center text-xl font-semibold outline-none';

/** The frame of a screen: its heading, its actions, and the title of the window. */
export function Page({
  title,
  heading,
  name,
  actions,
  intro,
  children,
}: {
  /** For the title of the window. */
  title: string;
  /** Default: the title. */
  heading?: ReactNode;
  /** What is read of a heading with controls in it. */
  name?: string;
  actions?: ReactNode;
  intro?: ReactNode;
  children: ReactNode;
}) {
  const root = useRef<HTMLDivElement>(null);
  useScreen(root, title);
  return (
    <div ref={root} className={classNames(GRID, 'pt-4 pb-24 sm:pb-5')}>
      <div className="mb-4 flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <h1
          tabIndex={-1}
          aria-label={name}
          className={classNames(HEADING, actions !== undefined && 'max-w-[calc(100%-4rem)]')}
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

/** Shown in place of a screen that is loading, with its heading's place. */
export function ScreenSkeleton() {
  return (
    <div className={classNames(GRID, 'pt-4')}>
      <div className="mb-4 flex h-8 items-center">
        <Skeleton className="h-4 w-40" />
      </div>
      <div className="rounded-lg border border-line bg-surface">
        <SkeletonRows />
      </div>
    </div>
  );
}

/** Explains to people without permission why there are no buttons. `children` names what requires an administrator. */
export function ReadOnlyNote({ children }: { children: ReactNode }) {
  const { role } = useRights();
  if (role === 'admin') return null;
  return (
    <p className="mb-4 flex items-start gap-2 rounded-md border border-line bg-surface px-3 py-2 text-ink-2">
      <Lock size={14} className="mt-0.5 shrink-0 text-ink-3" aria-hidden />
      <span>
        {children} requires an administrator. Your role is {role}.
      </span>
    </p>
  );
}
