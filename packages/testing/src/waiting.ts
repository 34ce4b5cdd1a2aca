/** How long a test waits for an event that usually comes at once: enough for a busy machine with two cores. */
export const PATIENCE_MS = 30_000;

/** The values that count as absent. */
type Missing = undefined | null | false | 0 | '';

/**
 * Calls `look` until it returns a value, and returns that. For facts that nothing announces, such as
 * those of another process; where there is a promise, use {@link within}.
 *
 * Rejects after `timeoutMs` (default 30 s) with `event`, a sentence that says what should have happened, or as soon
 * as `look` itself throws.
 */
export async function until<T>(
  event: string,
  look: () => T | Promise<T>,
  timeoutMs: number = PATIENCE_MS,
): Promise<Exclude<T, Missing>> {
  let isLate = false;
  const looking = async (): Promise<Exclude<T, Missing>> => {
    for (;;) {
      const seen = await look();
      // A value that is not absent, false or empty ends the wait.
      if (seen) return seen as Exclude<T, Missing>;
      // The result of a look that came too late is dropped.
      if (isLate) throw new Error('late');
      await Bun.sleep(10);
    }
  };
  try {
    return await within(event, looking(), timeoutMs);
  } finally {
    isLate = true;
  }
}

/** The result of `work`; rejects after `timeoutMs` (default 30 s) with `event`, a sentence that says what it is. */
export async function within<T>(
  event: string,
  work: Promise<T>,
  timeoutMs: number = PATIENCE_MS,
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () =>
      reject(new Error(`Timed out after ${Number((timeoutMs / 1_000).toFixed(2))} s. Expected: ${event}.`)),
    timeoutMs,
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The result of an attempt that ends before its `deadline`, in epoch milliseconds, such as the expiry of a key that it
 * creates and uses. On a machine too busy for `ms`, it is made again with twice the time.
 */
export async function beforeDeadline<T>(attempt: (deadline: number) => Promise<T>, ms = 1_500): Promise<T> {
  const deadline = Date.now() + ms;
  const [outcome] = await Promise.allSettled([attempt(deadline)]);
  if (Date.now() >= deadline && ms < PATIENCE_MS) return await beforeDeadline(attempt, 2 * ms);
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}
