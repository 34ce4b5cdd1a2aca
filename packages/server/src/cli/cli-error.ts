/** What the exit codes of the command line mean. */
export const EXIT = {
  ok: 0,
  /** Something broke: no server, an unexpected answer, a failed check. */
  failed: 1,
  /** The command was written wrongly. */
  usage: 2,
  /** What was named does not exist. */
  notFound: 3,
  /** The server refused: no or a wrong token, a conflict, a failed condition. */
  refused: 4,
} as const;

/** One of the exit codes. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Extras of a {@link CliError}. */
export interface CliErrorOptions extends ErrorOptions {
  /** `failed` by default. */
  readonly exitCode?: ExitCode;
  /** The error code of the API, where it was the one who refused. */
  readonly code?: string;
  /** Where more about it can be read. */
  readonly docs?: string;
}

/** Ends a command. The message says what was wrong and what would be right; it never holds a secret. */
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
