import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { apiPath } from './api-client.ts';
import { usageError } from './cli-error.ts';
import { type Fields, isJsonText } from './fields.ts';
import { describeStep } from './flag-state.ts';
import { addConnectionOptions, type CommandOptions, connect, NOTE_HELP, noteHeader } from './options.ts';
import { printAnswer, printDocument } from './output.ts';
import { decodeUtf8, type Shell } from './shell.ts';

interface ExportOptions extends CommandOptions {
  readonly project: string;
  readonly format?: 'yaml' | 'json';
  readonly out?: string;
}

interface ImportOptions extends CommandOptions {
  readonly policy: string;
  readonly dryRun?: boolean;
  readonly note?: string;
}

/** `halyard export` */
export function defineExport(command: Command, shell: Shell): void {
  addConnectionOptions(
    command
      .description('Export a project with its environments and flags as one document for "halyard import".')
      .requiredOption('--project <project>', 'Project to export')
      .addOption(
        new Option('--format <format>', 'Format (default yaml; json with --json or --out *.json)').choices([
          'yaml',
          'json',
        ]),
      )
      .option('--out <file>', 'Write to this file instead of standard output')
      .addHelpText('after', '\nExample:\n  halyard export --project shop --out flags.yaml'),
  ).action(async ({ project, out, ...options }: ExportOptions) => {
    const format = options.format ?? (options.json || out?.endsWith('.json') ? 'json' : 'yaml');
    const path = apiPath`/projects/${project}/export`;
    const { text } = await connect(shell, options).request({ path, query: { format } });
    await printDocument(shell, text, { out, sentence: `Wrote project ${project} to ${out}.` });
  });
}

/** `halyard import` */
export function defineImport(command: Command, shell: Shell): void {
  addConnectionOptions(
    command
      .argument('<file>')
      .description('Import a document that "halyard export" wrote; "-" reads standard input.')
      .addOption(
        new Option('--policy <policy>', 'create-only adds what is missing; enforce also changes and deletes')
          .choices(['create-only', 'enforce'])
          .default('create-only'),
      )
      .option('--dry-run', 'Show what would change')
      .option('--note <text>', NOTE_HELP)
      .addHelpText('after', IMPORT_EXAMPLES),
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

const IMPORT_EXAMPLES = `
Examples:
  halyard import flags.yaml --policy enforce --dry-run
  halyard export --project shop --url https://flags.example.com | halyard import -`;

/** The largest documents take a busy database minutes. */
const IMPORT_TIMEOUT_MS = 300_000;

async function readDocument(file: string, shell: Shell): Promise<string> {
  const text = file === '-' ? await shell.readInput() : decodeUtf8(await readBytes(file), file);
  if (text.trim() !== '') return text;
  throw usageError(`${file} is empty. Use a file that "halyard export" wrote, or "-" for standard input.`);
}

async function readBytes(file: string): Promise<Uint8Array> {
  return await readFile(file).catch((cause: unknown) => {
    throw usageError(
      `Cannot read ${file}. Use a file that "halyard export" wrote, or "-" for standard input.`,
      cause,
    );
  });
}

function describeImport(fields: Fields): string {
  const isDryRun = fields.boolean('dryRun');
  const project = fields.text('project');
  const create = isDryRun ? 'Would create' : 'Created';
  const lines: string[] = [];
  if (fields.boolean('projectCreated')) lines.push(`+ ${create} project ${project}`);
  for (const name of fields.texts('environmentsCreated')) lines.push(`+ ${create} environment ${name}`);
  const changes = fields.list('changes');
  lines.push(...changes.map(describeChange));
  const kept = fields.number('kept');
  if (kept > 0) lines.push(`Kept ${countStates(kept)}; --policy enforce overwrites what differs.`);
  const count = countStates(changes.length);
  lines.push(isDryRun ? `Dry run: would change ${count} of ${project}.` : `Changed ${count} of ${project}.`);
  return `${lines.join('\n')}\n`;
}

function countStates(count: number): string {
  return count === 1 ? '1 flag state' : `${count} flag states`;
}

const MARKS: Readonly<Record<string, string>> = { create: '+', update: '~', delete: '-' };

function describeChange(change: Fields): string {
  const step = describeStep(change.any('before'), change.any('after'));
  return `${MARKS[change.text('action')] ?? '?'} ${change.text('environment')}/${change.text('key')}: ${step}`;
}
