/**
 * Calls `callback` when the signal is aborted; soon, if it already is. Gives the function that stops waiting. Takes what
 * is not a signal, as JavaScript may give it, for none.
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
