import { writeSync } from 'node:fs';
import { basename } from 'node:path';
import type { EnvironmentVariables } from '../config/config.ts';
import { EXIT, usageError } from './cli-error.ts';

/** A command's view of the outside world. */
export interface Shell {
  readonly env: EnvironmentVariables;
  /** How this program was called, for commands to copy: `halyard`, `bun run halyard`. */
  readonly invocation: string;
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Whether to use colors. */
  readonly hasColor: boolean;
  /** Writes to standard output. */
  write(text: string): void;
  /** Writes to standard error. */
  writeError(text: string): void;
  /** Reads all of standard input. Throws a usage error unless it is UTF-8. */
  readInput(): Promise<string>;
  /** Asks for a secret without showing it; from a pipe, the first line of standard input. */
  readSecret(question: string): Promise<string>;
  /** Epoch milliseconds. */
  now(): number;
}

/** The shell of this process. */
export function processShell(env: EnvironmentVariables): Shell {
  const isTerminal = process.stdout.isTTY === true;
  return {
    env,
    invocation: invocation(),
    isTerminal,
    hasColor: isTerminal && !env.NO_COLOR && env.TERM !== 'dumb',
    write: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
    readInput: async () => decodeUtf8(await Bun.stdin.bytes(), 'Standard input'),
    readSecret: async (question) =>
      process.stdin.isTTY
        ? await readHidden(question)
        : (decodeUtf8(await Bun.stdin.bytes(), 'Standard input').split(/\r?\n/)[0] ?? ''),
    now: () => Date.now(),
  };
}

/** Reads a line from the terminal, which does not show it. Ctrl+C and the end of the input give up. */
async function readHidden(question: string): Promise<string> {
  const { stdin, stderr } = process;
  stderr.write(question);
  stdin.setRawMode(true);
  try {
    let typed = '';
    for await (const bytes of stdin) {
      for (const character of String(bytes)) {
        if (character === '\r' || character === '\n') return typed;
        if (character === '\u0003' || character === '\u0004') throw usageError('Nothing was entered.');
        if (character === '\u007f' || character === '\b') typed = typed.slice(0, -1);
        else typed += character;
      }
    }
    return typed;
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write('\n');
  }
}

function invocation(): string {
  // A compiled executable has its own name; otherwise Bun runs this program as its script.
  if (Bun.main.startsWith('/$bunfs/') || Bun.main.startsWith('B:\\~BUN')) return basename(process.execPath);
  const script = basename(process.argv[1] ?? 'main.ts');
  if (script !== 'main.ts') return script;
  // npx does not put Bun on the PATH.
  return process.execPath.includes('_npx') ? `npx --yes bun@${Bun.version} run halyard` : 'bun run halyard';
}

/** A text for people in which the commands in quotes, such as "halyard audit", can be copied: as this program was called. */
export function asCalled({ invocation }: Pick<Shell, 'invocation'>, text: string): string {
  return text.replaceAll('"halyard ', `"${invocation} `);
}

/** A text as one word of a command line for POSIX shells. */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Decodes UTF-8, without a byte order mark. Throws a usage error for other encodings, because replacement characters
 * would be stored. `source` names the input in the message.
 */
export function decodeUtf8(bytes: Uint8Array, source: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw usageError(`${source} is not UTF-8 text. Save it as UTF-8.`, cause);
  }
}

/**
 * Handles failed writes to standard output and standard error. After a broken pipe, as with `| head`, a command exits
 * quietly with 0; after any other failure, such as a full disk, with an error. A server keeps serving without its log.
 */
export function handleOutputErrors(command: string | undefined): void {
  const onError = (error: Error) => {
    if (command === 'serve') return;
    if ('code' in error && error.code === 'EPIPE') process.exit(EXIT.ok);
    try {
      // Synchronous, because the process exits before a queue is written.
      writeSync(process.stderr.fd, `error: Cannot write the output: ${error.message}\n`);
    } catch {
      // Standard error cannot be written either: the exit code is all there is.
    }
    process.exit(EXIT.failed);
  };
  process.stdout.on('error', onError);
  process.stderr.on('error', onError);
}
