import { CliError, EXIT } from './cli-error.ts';

/**
 * The text that bytes stand for, without the byte order mark that may be there. Ends the command when they are no
 * UTF-8: replaced letters would be stored as if they had been meant. `source` is what messages call it.
 */
export function utf8Text(bytes: Uint8Array, source: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new CliError(`${source} is not UTF-8 text: save it as UTF-8.`, { cause, exitCode: EXIT.usage });
  }
}
