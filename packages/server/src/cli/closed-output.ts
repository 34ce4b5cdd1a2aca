import { EXIT } from './cli-error.ts';

/**
 * Decides what happens when nobody reads the output any more, as after `| head`, or when it cannot be written: a
 * command ends without a word, but a server goes on serving without its log.
 */
export function outliveClosedOutput(command: string | undefined): void {
  const onError = (error: Error) => {
    if (command === 'serve') return;
    process.exit('code' in error && error.code === 'EPIPE' ? EXIT.ok : EXIT.failed);
  };
  process.stdout.on('error', onError);
  process.stderr.on('error', onError);
}
