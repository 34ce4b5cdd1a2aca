import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config/config.ts';
import { VERSION } from '../version.ts';
import { CliError, EXIT } from './cli-error.ts';
import type { Shell } from './shell.ts';

/** Adds a command with its options and actions to the program. */
type Define = (program: Command, shell: Shell) => void;

interface CommandEntry {
  readonly summary: string;
  /** Loads the command's code: only the one that runs is loaded, so that the start stays short. */
  readonly load: () => Promise<Define>;
}

const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  serve: {
    summary: 'run a node: the flag service with its management API',
    load: async () => (await import('./serve.ts')).defineServe,
  },
  project: {
    summary: 'make, list and delete projects',
    load: async () => (await import('./project.ts')).defineProject,
  },
  environment: {
    summary: 'make, list, change and delete environments of a project',
    load: async () => (await import('./environment.ts')).defineEnvironment,
  },
  flag: {
    summary: 'change, read, describe and archive flags',
    load: async () => (await import('./flag.ts')).defineFlag,
  },
  schedule: {
    summary: 'make a change at a later time; list and cancel such changes',
    load: async () => (await import('./schedule.ts')).defineSchedule,
  },
  copy: {
    summary: 'copy states of flags from one environment to another',
    load: async () => (await import('./copy.ts')).defineCopy,
  },
  key: {
    summary: 'make, list and revoke project keys, which applications read flags with',
    load: async () => (await import('./key.ts')).defineKey,
  },
  watch: {
    summary: 'show the changes of an environment as they happen',
    load: async () => (await import('./watch.ts')).defineWatch,
  },
  export: {
    summary: 'write a project as one document',
    load: async () => (await import('./export.ts')).defineExport,
  },
  import: {
    summary: 'bring a project to the state of such a document',
    load: async () => (await import('./import.ts')).defineImport,
  },
  types: {
    summary: "write a project's flags as TypeScript declarations",
    load: async () => (await import('./types.ts')).defineTypes,
  },
  audit: {
    summary: 'show who changed what',
    load: async () => (await import('./audit.ts')).defineAudit,
  },
  clients: {
    summary: 'show who is connected to a project',
    load: async () => (await import('./clients.ts')).defineClients,
  },
  delivery: {
    summary: 'show how far a change has got',
    load: async () => (await import('./delivery.ts')).defineDelivery,
  },
  change: {
    summary: 'show what one change did, or revert it',
    load: async () => (await import('./change.ts')).defineChange,
  },
  token: {
    summary: 'make, list and revoke access tokens, which people and pipelines manage flags with',
    load: async () => (await import('./token.ts')).defineToken,
  },
  operator: {
    summary: 'invite, list, change and remove operators, who sign in to the dashboard',
    load: async () => (await import('./operator.ts')).defineOperator,
  },
  invitation: {
    summary: 'list and revoke the one-time links of operators that are still open',
    load: async () => (await import('./invitation.ts')).defineInvitation,
  },
  doctor: {
    summary: 'find out what is wrong between here and the server',
    load: async () => (await import('./doctor.ts')).defineDoctor,
  },
  errors: {
    summary: 'list the error codes of the API, or explain one',
    load: async () => (await import('./errors.ts')).defineErrors,
  },
  openapi: {
    summary: 'print the OpenAPI document of the server',
    load: async () => (await import('./openapi.ts')).defineOpenapi,
  },
  version: {
    summary: 'print the version and the commit of this program',
    load: async () => (await import('./version.ts')).defineVersion,
  },
};

/**
 * Runs one command line (without the program's own name) and gives its exit code: 0 done, 1 failed, 2 written
 * wrongly, 3 not found, 4 refused. What went wrong is on standard error by then.
 */
export async function runCli(argv: readonly string[], shell: Shell): Promise<number> {
  const isHelp = argv[0] === 'help';
  const words = isHelp ? argv.slice(argv[1] === 'help' ? 2 : 1) : argv;
  try {
    const program = await buildProgram(words[0], shell);
    await program.parseAsync([...(isHelp ? asHelp(program, words) : words)], { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    return report(error, shell);
  }
}

/** `help flag set` is `flag set --help`. Help on a command that does not exist is refused as the command itself is. */
function asHelp(program: Command, words: readonly string[]): readonly string[] {
  let command = program;
  for (const [index, word] of words.entries()) {
    if (command.commands.length === 0) break;
    const next = command.commands.find((each) => each.name() === word);
    // Nothing after it: what asks for help must not do anything.
    if (next === undefined) return words.slice(0, index + 1);
    command = next;
  }
  return [...words, '--help'];
}

async function buildProgram(chosen: string | undefined, shell: Shell): Promise<Command> {
  const program = new Command('halyard')
    .description(
      'Halyard serves feature flags. Start it with "halyard serve"; the other commands talk to a server.',
    )
    .version(VERSION, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'explain a command')
    .helpCommand(false)
    .exitOverride()
    .showHelpAfterError('See --help for what can be said here.')
    .configureOutput({
      writeOut: (text) => shell.write(text),
      writeErr: (text) => shell.writeError(text),
      getOutHasColors: () => shell.hasColour,
      getErrHasColors: () => shell.hasColour,
    })
    .addHelpText('after', HELP_FOOTER);
  for (const [name, { summary, load }] of Object.entries(COMMANDS)) {
    if (name === chosen) (await load())(program, shell);
    else program.command(name).description(summary);
  }
  return program;
}

const HELP_FOOTER = `
A first round:
  halyard serve                                                           start a server
  halyard flag set new-checkout --project demo --env development --on     flip a flag
  halyard watch --project demo --env development                          see it change

Commands print tables on a terminal and JSON when piped. They find the server by --url or HALYARD_URL and the
access token by --token or HALYARD_TOKEN, else in the data folder of a server on this machine.
Exit codes: 0 done, 1 failed, 2 written wrongly, 3 not found, 4 refused.`;

function report(error: unknown, shell: Shell): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof ConfigError) {
    shell.writeError(`error: ${error.message}\n`);
    return EXIT.usage;
  }
  if (error instanceof CliError) {
    shell.writeError(`error: ${error.message}\n`);
    if (error.docs !== undefined) shell.writeError(`       More: ${error.docs}\n`);
    return error.exitCode;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  shell.writeError(`error: This is a mistake in halyard itself; please report it.\n${text}\n`);
  return EXIT.failed;
}
