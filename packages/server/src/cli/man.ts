import { flagOf } from '../config/settings.ts';
import { VERSION } from '../version.ts';
import { type Catalog, type CliCommand, localCommand } from './command.ts';
import type { OptionSpec } from './options.ts';

/** `halyard man` */
export function manCommand(catalog: Catalog): CliCommand {
  return localCommand({
    usage: 'man',
    about: 'Print the manual page of this program.',
    examples: ['halyard man | man -l -', 'halyard man > /usr/local/share/man/man1/halyard.1'],
    run: async (_input, shell) => {
      const shown = Object.entries(catalog).filter(([, { isInternal }]) => isInternal !== true);
      const pages = await Promise.all(
        shown.map(async ([name, { about, summary, load }]) => {
          const loaded = await load();
          const group = 'usage' in loaded ? undefined : (about ?? `${summary}.`);
          if (!('usage' in loaded)) return commandPage(name, group, loaded);
          const below = (loaded.commands ?? []).map((each) => ({ ...each, usage: `${name} ${each.usage}` }));
          return commandPage(name, group, [loaded, ...below]);
        }),
      );
      shell.write([HEAD, ...pages, FOOT].join('\n'));
    },
  });
}

const HEAD = String.raw`.TH HALYARD 1 "" "Halyard ${VERSION}" "User Commands"
.SH NAME
halyard \- serve and manage feature flags
.SH SYNOPSIS
.B halyard
.I command
[\fIarguments\fR] [\fIoptions\fR]
.SH DESCRIPTION
.B halyard serve
starts a server; the other commands talk to one. They print tables on a terminal and JSON when piped.
.SH COMMANDS`;

const FOOT = String.raw`.SH ENVIRONMENT
.TP
.B HALYARD_URL
Address of the server; the default is this machine.
.TP
.B HALYARD_TOKEN
Access token.
.TP
.B HALYARD_PROFILE
Profile of \fBhalyard login\fR, instead of the current one.
.TP
.B HALYARD_PROJECT
Project of commands that need \fB\-\-project\fR.
.TP
.B HALYARD_ENV
Environment of commands that need \fB\-\-env\fR.
.SH EXIT STATUS
0 success, 1 failure, 2 usage error, 3 not found, 4 denied or conflicting, 5 different (diff, refs), or something lost (convert).
`;

function commandPage(name: string, about: string | undefined, commands: readonly CliCommand[]): string {
  const shown = commands.filter(({ isRedirect }) => isRedirect !== true);
  return [
    ...(about === undefined ? [] : [`.SS ${text(name)}`, text(about)]),
    ...shown.map((command) => onePage(about === undefined ? '' : `${name} `, command)),
  ].join('\n');
}

function onePage(
  prefix: string,
  { usage, about, options, help, examples = [], closing }: CliCommand,
): string {
  return [
    `.SS halyard ${text(prefix + usage)}`,
    text(about),
    ...Object.entries(options).map(([name, spec]) => optionPage(name, spec)),
    ...[help, closing].flatMap((part) => (part === undefined ? [] : ['.PP', text(part)])),
    ...(examples.length === 0 ? [] : ['.PP', '.nf', ...examples.map((line) => text(`  ${line}`)), '.fi']),
  ].join('\n');
}

function optionPage(name: string, { value, about, no }: OptionSpec): string {
  const word = flagOf(name);
  const own = [
    `.TP`,
    `\\fB${text(word)}\\fR${value === undefined ? '' : ` \\fI${text(value)}\\fR`}`,
    text(about),
  ];
  const opposite = no ? [`.TP`, `\\fB${text(word.replace('--', '--no-'))}\\fR`, text(no)] : [];
  return [...own, ...opposite].join('\n');
}

/** A text as roff: its own characters are escaped, and no line begins with a request. */
function text(plain: string): string {
  return plain
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .split('\n')
    .map((line) => (/^[.']/.test(line) ? `\\&${line}` : line))
    .join('\n');
}
