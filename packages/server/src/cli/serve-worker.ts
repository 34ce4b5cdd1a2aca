import { usageError } from './cli-error.ts';
import { localCommand } from './command.ts';

/** `halyard worker`: one of the processes of `halyard serve --workers`, which starts it itself. */
export const workerCommand = localCommand({
  usage: 'worker',
  about: 'Serve reads for "halyard serve --workers", which starts this command itself.',
  run: async () => {
    // Ignored: terminals and service managers signal the whole process group, but the supervisor stops its workers.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
    const { processChannel, runWorker } = await import('../nodes/worker.ts');
    const channel = processChannel();
    if (channel === undefined) throw usageError('Only "halyard serve --workers" starts this command.');
    await runWorker(channel);
    process.exit(0);
  },
});
