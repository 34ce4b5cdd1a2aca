import { expect } from 'bun:test';
import type { NodeProcess } from '@halyard/testing';
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
    readSecret: async (question) => {
      err += question;
      return (options.input ?? '').split('\n')[0] ?? '';
    },
    now: () => Date.now(),
  };
  const exitCode = await runCli(argv, shell);
  return { exitCode, out, err };
}

/** What tests of commands do with the node that `current` returns. A text is split into words at its blanks. */
export function commandsAt(current: () => NodeProcess) {
  function halyard(line: string | readonly string[], options: CapturedShellOptions = {}): Promise<CliRun> {
    const { url, adminToken } = current();
    const env = { HALYARD_URL: url, HALYARD_TOKEN: adminToken, ...options.env };
    return runCaptured(typeof line === 'string' ? line.split(' ') : line, { ...options, env });
  }

  /** Runs as in a pipe, expects success, and returns the JSON. */
  async function json(line: string | readonly string[]) {
    const run = await halyard(line);
    expect(run).toMatchObject({ exitCode: 0 });
    return JSON.parse(run.out);
  }

  /** Runs as on a terminal, expects success with an empty standard error, and returns what a person sees. */
  async function seen(line: string | readonly string[]): Promise<string> {
    const run = await halyard(line, { isTerminal: true });
    expect(run).toMatchObject({ exitCode: 0, err: '' });
    return run.out;
  }

  return { halyard, json, seen };
}
