import { apiPath } from './api-client.ts';
import type { AuditOptions } from './audit.ts';
import { placeOf } from './change.ts';
import { CliError, EXIT, usageError } from './cli-error.ts';
import { connect } from './command.ts';
import type { Fields } from './fields.ts';
import { itemTexts, printable, shortTime, wantsJson } from './output.ts';
import { pauseBeforeRetry } from './retry.ts';
import type { Shell } from './shell.ts';

/**
 * `halyard audit --follow`: prints each entry once, in order, whatever happens to the connection. Rejects once a retry cannot help.
 * (Spec: S24.5)
 */
export async function followAudit(shell: Shell, options: AuditOptions): Promise<never> {
  const { project, since } = options;
  for (const name of ['env', 'target', 'actor', 'action', 'until', 'before', 'limit'] as const)
    if (options[name] !== undefined) throw usageError(`--follow cannot be used with --${name}.`);
  if (since !== undefined && !/^\d{1,15}(-\d+-[0-9a-f]+)?$/.test(since))
    throw usageError('With --follow, --since takes the number of an entry, or the "cursor" of a line.');

  const client = connect(shell, options);
  const asLines = options.format !== undefined || wantsJson(shell, options);
  let after = since;
  let wait = false;
  for (let failures = 0, hasAnswered = false; ; ) {
    try {
      const query = { after, project, wait: wait ? 'true' : undefined };
      const { text, fields } = await client.request({ path: apiPath`/audit/follow`, query });
      const lines = asLines ? itemTexts(text, 'entries') : fields.list('entries').map(lineOf);
      if (lines.length > 0) shell.write(`${lines.join('\n')}\n`);

      // What is printed is not asked for again.
      after = fields.text('next');
      wait = !fields.boolean('more');
      hasAnswered = true;
      failures = 0;
    } catch (error) {
      // An address that has never answered is probably wrong.
      if (!(error instanceof CliError) || error.exitCode !== EXIT.failed || !hasAnswered) throw error;
      await pauseBeforeRetry(error.message, failures++, shell);
    }
  }
}

function lineOf(entry: Fields): string {
  const place = placeOf(entry);
  const note = entry.optionalText('note');
  const parts = [
    `${entry.number('seq')}`,
    shortTime(entry.text('at')),
    entry.text('actor'),
    entry.text('action'),
    entry.text('target'),
    ...(place === '' ? [] : [`in ${place}`]),
    ...(note === undefined ? [] : [`(${note})`]),
  ];
  return printable(parts.join('  '));
}
