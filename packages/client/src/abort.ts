/**
 * Calls `callback` when the signal is aborted, or soon if it already is. Returns a function that stops waiting. Ignores
 * anything that is not an `AbortSignal`.
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  try {
    if (signal?.aborted) queueMicrotask(callback);
    signal?.addEventListener?.('abort', callback);
    return () => signal?.removeEventListener?.('abort', callback);
  } catch {
    // It cannot be listened to.
    return () => {};
  }
}
