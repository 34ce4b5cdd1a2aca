import type { Platform } from './platform.ts';

/**
 * The promise, or a rejection with the signal's reason as soon as it is aborted: even work that ignores the signal
 * cannot hold its caller.
 */
export function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** A controller that is aborted together with `parent`. Call `release` when it is no longer needed. */
export function childOf(parent: AbortSignal): { controller: AbortController; release: () => void } {
  const controller = new AbortController();
  const onAbort = () => controller.abort(parent.reason);
  parent.addEventListener('abort', onAbort);
  if (parent.aborted) onAbort();
  return { controller, release: () => parent.removeEventListener('abort', onAbort) };
}

/** Resolves after `ms` milliseconds, or at once when the signal is aborted. */
export function sleep(platform: Platform, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = platform.setTimer(done, ms);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}
