import { runCli } from './program.ts';
import type { Shell } from './shell.ts';

/** The result of a command line. */
export interface CliRun {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

/** The environment of a command line in a test. */
export interface CapturedShellOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Whether standard output is a terminal. No by default. */
  readonly isTerminal?: boolean;
  /** How the program was called; `halyard` by default. */
  readonly invocation?: string;
  /** Standard input. */
  readonly input?: string;
  /** Called after each write with all standard output so far. */
  readonly onOutput?: (out: string) => void;
  /** The same for standard error. */
  readonly onError?: (err: string) => void;
}

/** Runs a command line in this process and captures its output. For tests. */
export async function runCaptured(
  argv: readonly string[],
  options: CapturedShellOptions = {},
): Promise<CliRun> {
  let out = '';
  let err = '';
  const shell: Shell = {
    env: options.env ?? {},
    invocation: options.invocation ?? 'halyard',
    isTerminal: options.isTerminal ?? false,
    hasColor: false,
    write: (text) => {
      out += text;
      options.onOutput?.(out);
    },
    writeError: (text) => {
      err += text;
      options.onError?.(err);
    },
    readInput: async () => options.input ?? '',
    now: () => Date.now(),
  };
  const exitCode = await runCli(argv, shell);
  return { exitCode, out, err };
}
