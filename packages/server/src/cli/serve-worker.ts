import type { Command } from 'commander';
import { usageError } from './cli-error.ts';

/** `halyard worker`: one of the processes of `halyard serve --workers`, which starts it itself. */
export function defineWorker(worker: Command): void {
  worker.action(async () => {
    // Ignored: terminals and service managers signal the whole process group, but the supervisor stops its workers.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
    const { processChannel, runWorker } = await import('../nodes/worker.ts');
    const channel = processChannel();
    if (channel === undefined) throw usageError('Only "halyard serve --workers" starts this command.');
    await runWorker(channel);
    process.exit(0);
  });
}
