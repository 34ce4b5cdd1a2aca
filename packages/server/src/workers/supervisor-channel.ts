import type { FromWorker, ToWorker } from './messages.ts';

/** A worker's end of the channel to its supervisor. */
export interface SupervisorChannel {
  send(message: FromWorker): void;
  /** One listener; the next one replaces it. */
  onMessage(listener: (message: ToWorker) => void): void;
  /** Called when the supervisor has died, whichever way. The process ends when it has resolved. One listener. */
  onLost(listener: () => Promise<void>): void;
  /** Lets the process end. */
  close(): void;
}

/** The channel of this process; `undefined` when it was not started by a supervisor. */
export function processChannel(): SupervisorChannel | undefined {
  if (process.send === undefined) return undefined;

  let onMessage: (message: ToWorker) => void = () => {};
  let onLost = async () => {};
  let isClosed = false;

  // The supervisor is the same program, so its messages are what they say.
  process.on('message', (message: ToWorker) => onMessage(message));
  process.on('disconnect', () => {
    if (!isClosed) void onLost().finally(() => process.exit(1));
  });

  return {
    send: (message) => {
      if (process.connected) process.send?.(message);
    },
    onMessage: (listener) => {
      onMessage = listener;
    },
    onLost: (listener) => {
      onLost = listener;
    },
    close: () => {
      isClosed = true;
      process.disconnect?.();
    },
  };
}
