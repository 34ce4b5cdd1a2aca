/** How long anything the bench waits for may take, in milliseconds; far longer than it ever should. */
export const PATIENCE_MS = 60_000;

/** The work's result; rejects with what was waited for when it does not come in time. */
export async function within<T>(work: Promise<T>, what: string, ms: number = PATIENCE_MS): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${what} did not come within ${ms / 1000} s`)), ms);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
