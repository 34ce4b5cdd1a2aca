import type { LucideIcon } from 'lucide-react';
import TriangleAlert from 'lucide-react/icons/triangle-alert';
import type { ReactNode } from 'react';
import { ApiError, isRefusal, messageOf } from '../api/api-error.ts';
import { Button } from './button.tsx';
import { classNames } from './class-names.ts';
import { messages } from './messages.ts';

/** Shown in place of an empty list: what it is for, and how to begin. */
export function EmptyState({
  icon: Icon,
  title,
  children,
  action,
}: {
  icon?: LucideIcon | undefined;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="mx-auto flex max-w-xl flex-col items-center gap-3 px-4 py-16 text-center">
      {Icon && (
        <div className="flex size-11 items-center justify-center rounded-xl bg-accent-soft text-accent">
          <Icon size={20} aria-hidden />
        </div>
      )}
      <h2 className="text-lg font-semibold">{title}</h2>
      {children !== undefined && <div className="w-full text-ink-2">{children}</div>}
      {action !== undefined && <div className="mt-1 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}

/** Shown in place of data that could not be loaded. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const docs = error instanceof ApiError ? error.docs : undefined;
  return (
    <EmptyState
      icon={TriangleAlert}
      title="This could not be loaded"
      action={
        <>
          {onRetry && <Button onClick={onRetry}>Try again</Button>}
          {docs !== undefined && (
            <a className="inline-flex h-8 items-center px-2 text-accent underline" href={docs}>
              What this means
            </a>
          )}
        </>
      }
    >
      {messageOf(error)}
    </EmptyState>
  );
}

/** What is read from the server: a query's result, as screens need it. */
export interface Reading<Data> {
  /** `undefined` until it has been read once. */
  readonly data: Data | undefined;
  readonly error: unknown;
  /** Why the latest attempt failed, while it is tried again. */
  readonly failureReason?: unknown;
  readonly refetch: () => unknown;
}

/** Two things that a screen needs together. */
export function bothOf<One, Other>(one: Reading<One>, other: Reading<Other>): Reading<readonly [One, Other]> {
  const isRead = one.data !== undefined && other.data !== undefined;
  return {
    data: isRead ? [one.data, other.data] : undefined,
    error: one.error ?? other.error,
    failureReason: one.failureReason ?? other.failureReason,
    refetch: () => Promise.all([one.refetch(), other.refetch()]),
  };
}

/** Shows what was read: until then gray rows, and that it is tried again, or why it could not be read, with a retry. */
export function Loaded<Data>({
  reading: { data, error, failureReason, refetch },
  rows,
  skeleton = <SkeletonRows rows={rows} />,
  children,
}: {
  reading: Reading<Data>;
  rows?: number | undefined;
  /** In the shape of what comes; default: rows of a table. */
  skeleton?: ReactNode;
  children: (data: Data) => ReactNode;
}) {
  if (data !== undefined) return children(data);
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />;
  return (
    <>
      <TriedAgain reason={failureReason} />
      {skeleton}
    </>
  );
}

/** Says above gray rows that the server has not answered yet; nothing without a failed attempt. */
export function TriedAgain({ reason }: { reason: unknown }) {
  const hasFailed = reason !== undefined && reason !== null;
  return (
    <p role="status" className={hasFailed ? 'mb-3 text-ink-2' : 'sr-only'}>
      {hasFailed && messages.triedAgain}
    </p>
  );
}

/** An error with a link to its documentation and, for invalid input, the API's message in a collapsed part. */
export function ErrorText({ error }: { error: unknown }) {
  const docs = error instanceof ApiError ? error.docs : undefined;
  return (
    <>
      {messageOf(error)}
      {docs !== undefined && (
        <>
          {' '}
          <a href={docs} target="_blank" rel="noreferrer" className="underline">
            What this means
          </a>
        </>
      )}
      {isRefusal(error, 'invalid_argument') && (
        <details className="mt-1 text-xs">
          <summary className="min-h-6 cursor-pointer">Details</summary>
          <span className="font-mono break-words">{error.message}</span>
        </details>
      )}
    </>
  );
}

/** Gray shapes in place of what is loading. They fade as one: each animation of its own would be a layer more to draw. */
export function Loading({ className, children }: { className?: string; children: ReactNode }) {
  return (
    <div role="status" aria-label="Loading" className={classNames('animate-shimmer', className)}>
      {children}
    </div>
  );
}

/** A gray bar in place of text that is loading. */
export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden className={classNames('block h-3 rounded bg-line', className)} />;
}

/** Gray rows in place of a table or list that is loading. */
export function SkeletonRows({ rows = 8 }: { rows?: number | undefined }) {
  return (
    <Loading className="divide-y divide-line">
      <Alike count={rows} className="flex h-12 items-center gap-6 px-4">
        <Skeleton className="w-1/3" />
        <Skeleton className="w-1/6" />
        <Skeleton className="w-1/6" />
      </Alike>
    </Loading>
  );
}

/** Rows or columns that are all alike, while what they stand for is loading. */
export function Alike({
  count,
  className,
  children,
}: {
  count: number;
  className: string;
  children: ReactNode;
}) {
  return Array.from({ length: count }, (_, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: they never move
    <div key={index} className={className}>
      {children}
    </div>
  ));
}
