import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config/config.ts';
import { VERSION } from '../version.ts';
import { CliError, EXIT } from './cli-error.ts';
import type { CliCommand } from './command.ts';
import { defineCommand } from './define-command.ts';
import { asCalled, type Shell } from './shell.ts';

interface CommandEntry {
  readonly summary: string;
  /** What its own help says, if that is not the summary. */
  readonly about?: string;
  /** Loads the code of the command. Only the one that runs is loaded, to keep the start fast. */
  readonly load: () => Promise<CliCommand | readonly CliCommand[]>;
  /** Whether only the program itself runs it; help does not list it. */
  readonly isInternal?: boolean;
}

const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  serve: {
    summary: 'Start a node: the flag service with its management API',
    load: async () => (await import('./serve.ts')).serveCommand,
  },
  relay: {
    summary: 'Start a relay: a node without a database that follows another node',
    load: async () => (await import('./relay.ts')).relayCommand,
  },
  project: {
    summary: 'Create, list, change and delete projects',
    load: async () => (await import('./project.ts')).projectCommands,
  },
  environment: {
    summary: 'Create, list, change and delete environments of a project',
    load: async () => (await import('./environment.ts')).environmentCommands,
  },
  flag: {
    summary: 'Create, change, list, archive and delete flags',
    load: async () => (await import('./flag.ts')).flagCommands,
  },
  schedule: {
    summary: 'Create, list and cancel scheduled changes of flags',
    load: async () => (await import('./schedule.ts')).scheduleCommands,
  },
  rollout: {
    summary: 'Start, list, pause, resume and stop rollout plans, which roll flags out in steps',
    load: async () => (await import('./rollout.ts')).rolloutCommands,
  },
  proposal: {
    summary: 'List, show, apply and withdraw proposals: changes that wait for approval',
    load: async () => (await import('./proposal.ts')).proposalCommands,
  },
  copy: {
    summary: 'Copy flag states from one environment to another',
    load: async () => (await import('./copy.ts')).copyCommand,
  },
  key: {
    summary: 'Create, list and revoke project keys, which let applications read flags',
    load: async () => (await import('./key.ts')).keyCommands,
  },
  webhook: {
    summary: 'Send the changes of a project to other systems',
    load: async () => (await import('./webhook.ts')).webhookCommands,
  },
  watch: {
    summary: 'Watch the changes of an environment as they happen',
    load: async () => (await import('./watch.ts')).watchCommand,
  },
  export: {
    summary: 'Export a project as one document',
    load: async () => (await import('./documents.ts')).exportCommand,
  },
  diff: {
    summary: 'Show how such a document differs from the project',
    load: async () => (await import('./documents.ts')).diffCommand,
  },
  import: {
    summary: 'Import a project from such a document',
    load: async () => (await import('./documents.ts')).importCommand,
  },
  convert: {
    summary: 'Convert flags of another service into such a document',
    load: async () => (await import('./convert.ts')).convertCommand,
  },
  backup: {
    summary: 'Back up the database of an installation, while its nodes run',
    load: async () => (await import('./backup.ts')).backupCommand,
  },
  restore: {
    summary: 'Restore a backup, into either engine',
    load: async () => (await import('./backup.ts')).restoreCommand,
  },
  types: {
    summary: 'Write the flags of a project as TypeScript declarations',
    load: async () => (await import('./types.ts')).typesCommand,
  },
  refs: {
    summary: 'Find where a code base uses the flags of a project',
    load: async () => (await import('./refs.ts')).refsCommand,
  },
  audit: {
    summary: 'List changes, newest first: who changed what, and when',
    load: async () => (await import('./audit.ts')).auditCommand,
  },
  clients: {
    summary: 'Show which keys hold open streams',
    load: async () => (await import('./clients.ts')).clientsCommand,
  },
  delivery: {
    summary: 'Show how many streams received a change',
    load: async () => (await import('./change.ts')).deliveryCommand,
  },
  change: {
    summary: 'Show or revert a change',
    about: 'Show or revert a change. Run "halyard audit" to see the numbers of changes.',
    load: async () => (await import('./change.ts')).changeCommands,
  },
  token: {
    summary: 'Create, list and revoke access tokens, which let people and pipelines manage flags',
    load: async () => (await import('./token.ts')).tokenCommands,
  },
  'relay-token': {
    summary: 'Create, list and revoke relay tokens, with which relays follow this server',
    load: async () => (await import('./relay-token.ts')).relayTokenCommands,
  },
  operator: {
    summary: 'Invite, list, change and remove operators, who sign in to the dashboard',
    about: 'Invite, list, change and remove operators: the people who sign in to the dashboard.',
    load: async () => (await import('./operator.ts')).operatorCommands,
  },
  invitation: {
    summary: 'List and revoke open invitations',
    about: 'List and revoke open one-time links: invitations and links to set a password.',
    load: async () => (await import('./operator.ts')).invitationCommands,
  },
  doctor: {
    summary: 'Diagnose the connection to the server',
    load: async () => (await import('./doctor.ts')).doctorCommand,
  },
  errors: {
    summary: 'List the error codes of the API, or explain one',
    load: async () => (await import('./reference.ts')).errorsCommand,
  },
  openapi: {
    summary: 'Print the OpenAPI document of the server',
    load: async () => (await import('./reference.ts')).openapiCommand,
  },
  worker: {
    summary: 'Serve reads for "halyard serve --workers", which starts this command itself',
    load: async () => (await import('./serve-worker.ts')).workerCommand,
    isInternal: true,
  },
  version: {
    summary: 'Print the version of this program',
    load: async () => (await import('./reference.ts')).versionCommand,
  },
};

/**
 * Runs one command line (without the program's own name) and returns its exit code: 0 success, 1 failure, 2 usage
 * error, 3 not found, 4 denied or conflicting, 5 different. Errors are on standard error by then.
 */
export async function runCli(argv: readonly string[], shell: Shell): Promise<number> {
  const isHelp = argv[0] === 'help';
  const words = isHelp ? argv.slice(argv[1] === 'help' ? 2 : 1) : argv;
  try {
    const program = await buildProgram(words[0], shell);
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

async function buildProgram(chosen: string | undefined, shell: Shell): Promise<Command> {
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
    defineCommand(command, await load(), shell);
  }
  return program;
}

const HELP_FOOTER = `
Examples:
  halyard serve                                                           start a server
  halyard watch --project demo --env development                          watch the flags of an environment
  halyard flag set new-checkout --project demo --env development --on     turn a flag on

Commands print tables on a terminal and JSON when piped. The server comes from --url or HALYARD_URL (default: this
machine), the access token from --token, HALYARD_TOKEN or the data folder of a server on this machine.
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
