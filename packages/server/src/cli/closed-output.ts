import { writeSync } from 'node:fs';
import { EXIT } from './cli-error.ts';

/**
 * Decides what happens when nobody reads the output any more, as after `| head`: a command ends without a word. One
 * whose output cannot be written, as on a full disk, says so. A server goes on serving without its log.
 */
export function outliveClosedOutput(command: string | undefined): void {
  const onError = (error: Error) => {
    if (command === 'serve') return;
    if ('code' in error && error.code === 'EPIPE') process.exit(EXIT.ok);
    try {
      // At once: the process does not live on for a queue.
      writeSync(process.stderr.fd, `error: The output cannot be written: ${error.message}\n`);
    } catch {
      // Standard error cannot be written either: the exit code is all there is.
    }
    process.exit(EXIT.failed);
  };
  process.stdout.on('error', onError);
  process.stderr.on('error', onError);
}
