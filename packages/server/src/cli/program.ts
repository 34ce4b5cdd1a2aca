import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config/config.ts';
import { VERSION } from '../version.ts';
import { CliError, EXIT } from './cli-error.ts';
import { COMMANDS } from './commands.ts';
import { defineCommand } from './define-command.ts';
import { asCalled, type Shell } from './shell.ts';

/**
 * Runs one command line (without the program's own name) and returns its exit code: 0 success, 1 failure, 2 usage
 * error, 3 not found, 4 denied or conflicting, 5 different. Errors are on standard error by then.
 */
export async function runCli(argv: readonly string[], shell: Shell): Promise<number> {
  const isHelp = argv[0] === 'help';
  const words = isHelp ? argv.slice(argv[1] === 'help' ? 2 : 1) : argv;
  try {
    const program = await buildProgram(words, shell);
    await program.parseAsync([...(isHelp ? helpFor(program, words) : words)], { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    return report(error, shell);
  }
}

/** `help flag set` is `flag set --help`. Help for an unknown command fails like the command. */
function helpFor(program: Command, words: readonly string[]): readonly string[] {
  let command = program;
  for (const [index, word] of words.entries()) {
    if (command.commands.length === 0) break;
    const next = command.commands.find((each) => each.name() === word);
    // Without the words after it, because help must not run anything.
    if (next === undefined) return words.slice(0, index + 1);
    command = next;
  }
  return [...words, '--help'];
}

async function buildProgram([chosen, word]: readonly string[], shell: Shell): Promise<Command> {
  const program = new Command('halyard')
    .description(
      'Serve and manage feature flags. "halyard serve" starts a server; the other commands talk to one.',
    )
    .version(VERSION, '-v, --version', 'Print the version')
    .helpOption('-h, --help', 'Show help for a command')
    .helpCommand(false)
    .exitOverride()
    .showHelpAfterError('Run with --help to see the options.')
    .configureOutput({
      writeOut: (text) => shell.write(asCalled(shell, text)),
      writeErr: (text) => shell.writeError(asCalled(shell, text)),
      getOutHasColors: () => shell.hasColor,
      getErrHasColors: () => shell.hasColor,
    })
    .addHelpText('after', HELP_FOOTER);

  for (const [name, { summary, about = `${summary}.`, load, isInternal = false }] of Object.entries(
    COMMANDS,
  )) {
    const command = program.command(name, { hidden: isInternal }).summary(summary).description(about);
    if (name !== chosen) continue;
    defineCommand(command, await load(), { word, shell });
  }
  return program;
}

const HELP_FOOTER = `
Examples:
  halyard serve                                                           start a server
  halyard watch --project demo --env development                          watch the flags of an environment
  halyard flag set new-checkout --project demo --env development --on     turn a flag on

Commands print tables on a terminal and JSON when piped. The server comes from --url or HALYARD_URL (default: this
machine), the access token from --token, HALYARD_TOKEN or the data folder of a server on this machine; or both come from the
profile that "halyard login" stored. Options override variables, and variables override the current profile.
Exit codes: 0 success, 1 failure, 2 usage error, 3 not found, 4 denied or conflicting,
5 different (diff, refs), or something lost (convert).`;

function report(error: unknown, shell: Shell): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof ConfigError) {
    shell.writeError(`error: ${error.message}\n`);
    return EXIT.usage;
  }
  if (error instanceof CliError) {
    shell.writeError(`error: ${asCalled(shell, error.message)}\n`);
    if (error.docs !== undefined) shell.writeError(`       See ${error.docs}\n`);
    return error.exitCode;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  shell.writeError(`error: This is a bug in Halyard. Please report it.\n${text}\n`);
  return EXIT.failed;
}
