import { ERROR_CODES, ERROR_STATUS, isErrorCode } from '@halyard/protocol';
import type { Command } from 'commander';
import { nearestName } from '../config/nearest-name.ts';
import { CliError, EXIT } from './cli-error.ts';
import { type OutputOptions, wantsJson } from './output.ts';
import type { Shell } from './shell.ts';
import { formatTable } from './table.ts';

/** `halyard errors` */
export function defineErrors(program: Command, shell: Shell): void {
  program
    .command('errors [code]')
    .description('List the error codes of the API, or explain one. Needs no server.')
    .option('--json', 'write JSON, also on a terminal')
    .addHelpText('after', '\nExample:\n  halyard errors revision_conflict')
    .action(async (code: string | undefined, options: OutputOptions) => {
      if (code === undefined) return await listErrors(shell, options);
      await explainError(code, shell, options);
    });
}

async function listErrors(shell: Shell, options: OutputOptions): Promise<void> {
  const { ERROR_PAGES } = await import('../http/docs/pages.ts');
  const { readErrorPage } = await import('../http/docs/error-page.ts');
  const errors = ERROR_CODES.map((code) => readErrorPage(code, ERROR_PAGES[code]));
  if (wantsJson(shell, options)) {
    const brief = errors.map(({ error, status, title }) => ({ error, status, title }));
    return shell.write(`${JSON.stringify({ errors: brief })}\n`);
  }
  const rows = errors.map(({ error, title }) => [
    error,
    `${ERROR_STATUS[error]}`,
    title.replace(/^`?\w+`?: /, ''),
  ]);
  shell.write(formatTable(['CODE', 'STATUS', 'MEANING'], rows));
}

async function explainError(code: string, shell: Shell, options: OutputOptions): Promise<void> {
  if (!isErrorCode(code)) {
    const nearest = nearestName(code, ERROR_CODES);
    const hint = nearest === undefined ? '"halyard errors" lists them.' : `Did you mean ${nearest}?`;
    throw new CliError(`"${code}" is no error code of this version. ${hint}`, { exitCode: EXIT.notFound });
  }
  const { ERROR_PAGES } = await import('../http/docs/pages.ts');
  if (!wantsJson(shell, options)) return shell.write(ERROR_PAGES[code]);
  const { readErrorPage } = await import('../http/docs/error-page.ts');
  shell.write(`${JSON.stringify(readErrorPage(code, ERROR_PAGES[code]))}\n`);
}
