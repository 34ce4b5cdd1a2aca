import { readFile } from 'node:fs/promises';
import type { Conversion, ConversionReport, Outcome, SourceFile } from '../nouns/conversions/convert.ts';
import { ConversionError } from '../nouns/conversions/piece.ts';
import { SERVICES, type ServiceName } from '../nouns/conversions/services.ts';
import { CliError, EXIT, usageError } from './cli-error.ts';
import { localCommand } from './command.ts';
import { namesIn, option, required, toggle, type ValuesOf } from './options.ts';
import { formatTable, printable, printDocument } from './output.ts';
import { decodeUtf8, type Shell } from './shell.ts';

// `ServiceName`: the keys of the table.
const SERVICE_NAMES = Object.keys(SERVICES) as ServiceName[];

const OPTIONS = {
  from: { ...required('<service>', 'Service that the files are of'), choices: SERVICE_NAMES },
  project: required('<project>', 'Project that the document is for'),
  env: option(
    '<names>',
    'Environments to take, separated by commas, as theirs=ours to rename; by default all',
  ),
  keepOn: toggle('Leave a flag on also where rules, targets or variants of it are left out'),
  offIsDefault: toggle('Accept that code gets its default where a flag is off, and not the value for that'),
  parseJson: toggle('Turn texts that hold a JSON object or list into such values'),
  variantValue: option('<member>', 'What a variant of Flipt gives', { choices: ['key', 'attachment'] }),
  namespace: option('<namespace>', 'Namespace of Flipt to take, if the file has several'),
  strict: toggle('Write nothing unless every flag is kept exactly'),
  out: option('<file>', 'Write to this file instead of standard output'),
  report: option('<file>', 'Also write the report to this file, as JSON'),
};

/** `halyard convert` */
export const convertCommand = localCommand({
  usage: 'convert [files...]',
  about: 'Convert flags that another service has exported into a document for "halyard import".',
  argumentHelp: {
    files:
      'Files of the other service, each with its environment: production=prod.json; "-" is standard input',
  },
  options: OPTIONS,
  help:
    'Works on files alone, without a server. The report on standard error says of each flag whether it is kept,\n' +
    'approximated (the same value, other users of the same share) or lost (something is left out). A flag that has lost\n' +
    'something is off, unless --keep-on says otherwise.\n' +
    'Exit codes: 0 nothing is lost, 5 something is, 1 with --strict, others as for every command.',
  examples: [
    'halyard convert --from unleash --project shop production.json > flags.yaml',
    'halyard convert --from flagd --project shop staging=s.json production=p.json --out flags.yaml',
  ],
  run: async ({ files, ...options }, shell) => {
    const { out, strict = false } = options;
    if (files.length === 0) throw usageError('Name at least one file: production=prod.json.');
    const { declaration, report } = await conversionOf(files, options, shell);
    shell.writeError(describeReport(report));
    if (options.report !== undefined)
      await printDocument(shell, JSON.stringify(report, null, 2), {
        out: options.report,
        sentence: `Wrote the report to ${options.report}.`,
      });

    const isExact = report.flags.every(({ outcome }) => outcome === 'kept');
    if (strict && !isExact) throw new CliError('Not every flag is kept exactly, and nothing was written.');
    const { writeDeclaration } = await import('../nouns/documents/declaration-text.ts');
    const format = out?.endsWith('.json') ? 'json' : 'yaml';
    const text = writeDeclaration(declaration, format);
    await printDocument(shell, text, { out, sentence: `Wrote project ${report.project} to ${out}.` });
    failIfLost(report);
  },
});

async function conversionOf(
  files: readonly string[],
  { env, keepOn = false, offIsDefault = false, parseJson = false, ...options }: ValuesOf<typeof OPTIONS>,
  shell: Shell,
): Promise<Conversion> {
  const { convert } = await import('../nouns/conversions/convert.ts');
  const environments = env === undefined ? undefined : new Map(namesIn(env).map(renamed));
  try {
    const sources = await Promise.all(files.map((each) => readSource(each, shell)));
    const asked = environments === undefined ? {} : { environments };
    return convert(sources, { ...options, ...asked, keepOn, offIsDefault, parseJson });
  } catch (error) {
    if (error instanceof ConversionError) throw usageError(printable(error.message), error);
    throw error;
  }
}

/** `theirs=ours`, or one name for both. */
function renamed(text: string): readonly [theirs: string, ours: string] {
  const at = text.lastIndexOf('=');
  return at < 0 ? [text, text] : [text.slice(0, at), text.slice(at + 1)];
}

/** Reads a file, before whose name its environment may stand; `-` is standard input. */
async function readSource(argument: string, shell: Shell): Promise<SourceFile> {
  const { parseSource } = await import('../nouns/conversions/source-text.ts');
  const [, environment, path = argument] = /^([^=/\\.]+)=(.+)$/s.exec(argument) ?? [];
  const read = async () => {
    const bytes = await readFile(path).catch((cause: unknown) => {
      throw usageError(`Cannot read ${path}.`, cause);
    });
    return decodeUtf8(bytes, path);
  };
  const text = path === '-' ? await shell.readInput() : await read();
  return { name: path, data: parseSource(path, text), ...(environment !== undefined && { environment }) };
}

function describeReport({ flags, warnings }: ConversionReport): string {
  const rows = flags.flatMap(({ key, outcome, notes }) =>
    notes.length === 0
      ? [[key, outcome, '', '']]
      : notes.map((note, index) => [
          index === 0 ? key : '',
          index === 0 ? outcome : '',
          note.environment ?? '',
          `${note.text} (${note.place})`,
        ]),
  );
  const counts = (['kept', 'approximated', 'lost', 'skipped'] as const satisfies Outcome[])
    .map((each) => `${flags.filter(({ outcome }) => outcome === each).length} ${each}`)
    .join(', ');
  const sum = flags.length === 1 ? '1 flag' : `${flags.length} flags`;
  const lines = [`${sum}: ${counts}.`, ...warnings.map((each) => `warning: ${each}`)];
  return `${formatTable(['FLAG', 'OUTCOME', 'ENVIRONMENT', 'WHAT'], rows)}${lines.join('\n')}\n`;
}

function failIfLost({ flags }: ConversionReport): void {
  const lost = flags.filter(({ outcome }) => outcome === 'lost' || outcome === 'skipped').length;
  if (lost === 0) return;
  const what = lost === 1 ? '1 flag has' : `${lost} flags have`;
  throw new CliError(`${what} lost something: read the report before you import the document.`, {
    exitCode: EXIT.different,
  });
}
