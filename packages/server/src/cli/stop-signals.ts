import { CliError } from './cli-error.ts';
import type { Shell } from './shell.ts';

/** Something that runs until it is told to stop. */
export interface Stoppable {
  /** Settles when it has stopped; rejects when it broke. */
  readonly closed: Promise<void>;
  stop(): Promise<void>;
}

/** Signals this close together count as one: a wrapper such as npx passes on what the terminal has sent to both. */
const SAME_SIGNAL_MS = 1000;

/** How long the process may linger once everything is closed. */
const LINGER_MS = 1000;

/**
 * Starts something and waits until it has stopped, by itself or by SIGTERM or SIGINT. The first signal stops it in
 * order, a later one (after {@link SAME_SIGNAL_MS}) ends the process at once, with exit code 1.
 */
export async function untilStopped(shell: Shell, start: () => Promise<Stoppable>): Promise<void> {
  let running: Stoppable | undefined;
  let stoppingSince: number | undefined;
  const onSignal = (signal: string) => {
    if (running === undefined) process.exit(1);
    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince < SAME_SIGNAL_MS) return;
      process.exit(1);
    }
    stoppingSince = performance.now();
    shell.writeError(`${signal}: stopping. Once more ends it at once.\n`);
    running.stop().catch((error: unknown) => {
      shell.writeError(`error: Stopping failed: ${error instanceof Error ? error.message : String(error)}\n`);
      process.exit(1);
    });
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  try {
    running = await start();
    await running.closed.catch((error: unknown) => {
      throw new CliError(`Halyard broke: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    });
  } finally {
    process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
    // Nothing ought to keep the process alive now. Should something do, a supervisor must not have to kill us.
    setTimeout(() => process.exit(), LINGER_MS).unref();
  }
}
