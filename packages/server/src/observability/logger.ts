import pino, { type DestinationStream, type Logger } from 'pino';

/** Members of a log object that may hold a secret. */
const SECRET_PATHS = [
  'x-service-key',
  'authorization',
  'cookie',
  'key',
  'token',
  'password',
  'databaseUrl',
  'databaseFollowUrl',
].flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.headers["${name}"]`]);

/** A project key, access token, session id or one-time token inside a sentence, such as an error's message; and a URL's password. */
const SECRETS_IN_TEXT = /\b(proj_live_|hat_|hss_|hin_)[0-9A-Za-z]+|(?<=:\/\/[^\s:@/]*:)[^\s@/]+(?=@)/g;

/** Options of {@link createLogger}. */
export interface LogOptions {
  readonly level: string;
  /** JSON for machines, pretty lines for a person at a terminal. */
  readonly format: 'json' | 'pretty';
  /** The destination; by default standard output for JSON, standard error for pretty lines. */
  readonly destination?: DestinationStream;
}

/** Creates the logger of a node. Secrets are replaced by `[redacted]` before a line is written. */
export function createLogger(options: LogOptions): Logger {
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_PATHS, censor: '[redacted]' },
    },
    options.destination ?? new ScrubbedOutput(options.format),
  );
}

/** Removes secrets of a known form from every line, as a last resort. */
class ScrubbedOutput implements DestinationStream {
  readonly #format: LogOptions['format'];

  constructor(format: LogOptions['format']) {
    this.#format = format;
  }

  write(line: string): void {
    const clean = scrub(line);
    if (this.#format === 'json') process.stdout.write(clean);
    else process.stderr.write(prettyLine(clean));
  }
}

/** Replaces everything that looks like a secret in a text. */
export function scrub(text: string): string {
  return text.replace(SECRETS_IN_TEXT, '[redacted]');
}

function prettyLine(line: string): string {
  const { level, time, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const cause = typeof err === 'object' && err !== null && 'message' in err ? ` (${err.message})` : '';
  const details = Object.entries(rest).map(
    ([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return `${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${msg}${details.join('')}${cause}\n`;
}
