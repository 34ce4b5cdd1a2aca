/** The exit codes of the command line. */
export const EXIT = {
  ok: 0,
  /** The command failed: no server, an unexpected answer, a failed check. */
  failed: 1,
  /** The command line is invalid. */
  usage: 2,
  /** A named thing does not exist. */
  notFound: 3,
  /** The server refused: a missing or wrong token, a conflict, a failed condition. */
  denied: 4,
  /** What was compared is different, as the command reports. */
  different: 5,
} as const;

/** One of the exit codes. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Extras of a {@link CliError}. */
export interface CliErrorOptions extends ErrorOptions {
  /** `failed` by default. */
  readonly exitCode?: ExitCode;
  /** The error code of the API, if the server sent the error. */
  readonly code?: string;
  /** Address of a page about the error. */
  readonly docs?: string;
}

/** Ends a command. The message says what failed and what to do next; it never holds a secret. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;
  readonly code: string | undefined;
  readonly docs: string | undefined;

  constructor(message: string, options: CliErrorOptions = {}) {
    super(message, options);
    this.exitCode = options.exitCode ?? EXIT.failed;
    this.code = options.code;
    this.docs = options.docs;
  }
}

/** An error in the command line itself: exit code 2. */
export function usageError(message: string, cause?: unknown): CliError {
  return new CliError(message, { exitCode: EXIT.usage, cause });
}
