import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { apiPath } from './api-client.ts';
import { CliError, EXIT } from './cli-error.ts';
import { addConnectionOptions, type CommandOptions, connect } from './connection-options.ts';
import type { Fields } from './fields.ts';
import { isJsonText } from './json-text.ts';
import { noteHeader } from './note-header.ts';
import { printAnswer } from './output.ts';
import type { Shell } from './shell.ts';
import { describeStep } from './state-text.ts';
import { utf8Text } from './utf8-text.ts';

interface ImportOptions extends CommandOptions {
  readonly policy: string;
  readonly dryRun?: boolean;
  readonly note?: string;
}

/** `halyard import` */
export function defineImport(program: Command, shell: Shell): void {
  addConnectionOptions(
    program
      .command('import <file>')
      .description(
        'Read a document that "export" wrote, and bring its project to that state. "-" is standard input.',
      )
      .addOption(
        new Option('--policy <policy>', 'create-only adds what is missing; enforce also changes and deletes')
          .choices(['create-only', 'enforce'])
          .default('create-only'),
      )
      .option('--dry-run', 'only show what would change')
      .option('--note <why>', 'why; kept in the audit log')
      .addHelpText('after', EXAMPLES),
  ).action(async (file: string, options: ImportOptions) => {
    const body = await readDocument(file, shell);
    const answer = await connect(shell, options).request({
      method: 'POST',
      path: apiPath`/import`,
      query: { policy: options.policy, dryRun: String(options.dryRun === true) },
      timeoutMs: IMPORT_TIMEOUT_MS,
      body,
      contentType: isJsonText(body) ? 'application/json' : 'application/yaml',
      headers: noteHeader(options.note),
    });
    printAnswer(shell, options, answer, describeImport);
  });
}

/** The largest documents take a busy database minutes. */
const IMPORT_TIMEOUT_MS = 300_000;

const EXAMPLES = `
Examples:
  halyard import flags.yaml --policy enforce --dry-run
  halyard export --project shop --url https://flags.example.com | halyard import -`;

async function readDocument(file: string, shell: Shell): Promise<string> {
  const text = file === '-' ? await shell.readInput() : utf8Text(await readBytes(file), file);
  if (text.trim() !== '') return text;
  throw new CliError(`${file} is empty: name a file that "halyard export" wrote, or "-".`, {
    exitCode: EXIT.usage,
  });
}

async function readBytes(file: string): Promise<Uint8Array> {
  return await readFile(file).catch((cause: unknown) => {
    throw new CliError(`${file} cannot be read: name a file that "halyard export" wrote, or "-".`, {
      cause,
      exitCode: EXIT.usage,
    });
  });
}

function describeImport(fields: Fields): string {
  const isDryRun = fields.boolean('dryRun');
  const project = fields.text('project');
  const made = isDryRun ? 'would be made' : 'was made';
  const lines: string[] = [];
  if (fields.boolean('projectCreated')) lines.push(`+ project ${project} ${made}`);
  for (const name of fields.texts('environmentsCreated')) lines.push(`+ environment ${name} ${made}`);
  const changes = fields.list('changes');
  lines.push(...changes.map(describeChange));
  const kept = fields.number('kept');
  if (kept > 0)
    lines.push(`${kept} flag state(s) differ and were left alone; --policy enforce changes them.`);
  const count = changes.length === 1 ? '1 flag state' : `${changes.length} flag states`;
  lines.push(`${project}: ${count} ${isDryRun ? 'would change; nothing was written.' : 'changed.'}`);
  return `${lines.join('\n')}\n`;
}

const MARKS: Readonly<Record<string, string>> = { create: '+', update: '~', delete: '-' };

function describeChange(change: Fields): string {
  const step = describeStep(change.any('before'), change.any('after'));
  return `${MARKS[change.text('action')] ?? '?'} ${change.text('environment')}/${change.text('key')}: ${step}`;
}
