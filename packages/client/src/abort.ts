/**
 * Calls `callback` when the signal is aborted; soon, if it already is. Gives the function that stops waiting. Takes what
 * is no signal, as JavaScript may give it, for none.
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  signal?.addEventListener?.('abort', callback);
  if (signal?.aborted) queueMicrotask(callback);
  return () => signal?.removeEventListener?.('abort', callback);
}
