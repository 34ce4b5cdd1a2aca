import { basename } from 'node:path';
import type { EnvironmentVariables } from '../config/config.ts';
import { utf8Text } from './utf8-text.ts';

/** What a command has of the outside world: where it writes, what it reads, and who is looking. */
export interface Shell {
  readonly env: EnvironmentVariables;
  /** How this program is called, for commands that are shown to be copied: `halyard`, `bun run halyard`. */
  readonly invocation: string;
  /** Whether a person looks at standard output. */
  readonly isTerminal: boolean;
  /** Whether colours are wanted. */
  readonly hasColour: boolean;
  /** Writes to standard output. */
  write(text: string): void;
  /** Writes to standard error. */
  writeError(text: string): void;
  /** Everything that comes on standard input. Ends the command when it is not UTF-8. */
  readInput(): Promise<string>;
  /** Epoch milliseconds. */
  now(): number;
}

/** The shell this process was started from. */
export function processShell(env: EnvironmentVariables): Shell {
  const isTerminal = process.stdout.isTTY === true;
  return {
    env,
    invocation: invocation(),
    isTerminal,
    hasColour: isTerminal && !env.NO_COLOR && env.TERM !== 'dumb',
    write: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
    readInput: async () => utf8Text(await Bun.stdin.bytes(), 'What came on standard input'),
    now: () => Date.now(),
  };
}

function invocation(): string {
  // A compiled executable carries its own name; everything else is Bun with this program as its script.
  if (Bun.main.startsWith('/$bunfs/') || Bun.main.startsWith('B:\\~BUN')) return basename(process.execPath);
  const script = basename(process.argv[1] ?? 'main.ts');
  if (script !== 'main.ts') return script;
  // Started by npx, Bun is on nobody's path.
  return process.execPath.includes('_npx') ? `npx --yes bun@${Bun.version} run halyard` : 'bun run halyard';
}
