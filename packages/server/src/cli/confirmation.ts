import { CliError, EXIT } from './cli-error.ts';

/** Ends the command unless `--yes` was given. `consequence` says what would be lost. */
export function requireYes(options: { readonly yes?: boolean }, consequence: string): void {
  if (options.yes === true) return;
  throw new CliError(`${consequence} Add --yes to do it.`, { exitCode: EXIT.usage });
}
