/** What a scenario is: the steps that a client's test takes, and the script that its server follows. */
import type { Exchange } from './exchange.ts';
import type { Run } from './run.ts';

/** The environment of every run. */
export const ENVIRONMENT = 'production';

/** A map of flags, or anything that is sent in place of one. */
export type Flags = Readonly<Record<string, unknown>>;

/** The options of the step `open`. */
export interface OpenOptions {
  readonly timeScale?: number;
  readonly targetingKey?: string;
  readonly statePath?: boolean;
  readonly stateMaxAgeMs?: number;
  readonly reportUsage?: boolean;
  readonly bootstrap?: Flags;
  readonly apiKey?: string;
  readonly environment?: string;
  readonly baseUrl?: string;
  readonly insecure?: boolean;
}

/** A read through OpenFeature, and what is expected of it. */
export interface ReadStep {
  readonly key: string;
  readonly type: 'boolean' | 'string' | 'integer' | 'float' | 'object';
  readonly default: unknown;
  readonly targetingKey?: string;
  readonly expect: {
    readonly value?: unknown;
    readonly reason?: string;
    readonly errorCode?: string | null;
    readonly variant?: string;
    readonly metadata?: Readonly<Record<string, unknown>>;
  };
  readonly withinMs?: number;
}

/** One step of a client's test; `README.md` says what each does. */
export type Step =
  | { readonly do: 'open'; readonly options?: OpenOptions }
  | {
      readonly do: 'ready';
      readonly expect: 'ready' | 'bootstrapped' | 'failed' | 'timeout';
      readonly withinMs: number;
    }
  | ({ readonly do: 'read' } & ReadStep)
  | { readonly do: 'steady'; readonly read: ReadStep; readonly forMs: number }
  | { readonly do: 'status'; readonly expect: string; readonly withinMs: number }
  | {
      readonly do: 'event';
      readonly expect: { readonly type: string; readonly keys?: readonly string[] };
      readonly withinMs: number;
    }
  | { readonly do: 'act'; readonly name: string; readonly withinMs: number }
  | { readonly do: 'close' }
  | { readonly do: 'verdict' };

/** A scenario as its author writes it. */
export interface Scenario {
  /** In kebab-case, unique. */
  readonly name: string;
  /** What a client must do for the scenario to apply to it: ask for changes. Other clients skip the scenario. */
  readonly needs?: 'changes';
  /** The clause of `docs/client-contract.md` that it proves. */
  readonly clause: string;
  /** What is true of a client that passes. */
  readonly sentence: string;
  readonly steps: readonly Step[];
  /** Sets up the server before the client connects. Without it, the server behaves as Halyard does. */
  readonly prepare?: (run: Run) => Promise<void> | void;
  /** What the steps `act` do. One that waits does so with `run.until`. */
  readonly acts?: Readonly<Record<string, (run: Run) => Promise<void> | void>>;
  /** What only the server can judge: a sentence for each thing that is wrong. */
  readonly judge?: (run: Run) => readonly string[] | Promise<readonly string[]>;
}

/** How a server answers one request. */
export type Answer = (exchange: Exchange, run: Run) => void | Promise<void>;

/** How long a step may take in which nothing but the machine's load takes time. */
export const SOON_MS = 10_000;

export const open = (options: OpenOptions = {}): Step => ({ do: 'open', options });
export const ready = (
  expect: 'ready' | 'bootstrapped' | 'failed' | 'timeout' = 'ready',
  withinMs = SOON_MS,
): Step => ({ do: 'ready', expect, withinMs });
export const status = (expect: string, withinMs = SOON_MS): Step => ({ do: 'status', expect, withinMs });
export const event = (type: string, keys?: readonly string[], withinMs = SOON_MS): Step => ({
  do: 'event',
  expect: keys ? { type: `PROVIDER_${type}`, keys } : { type: `PROVIDER_${type}` },
  withinMs,
});
export const act = (name: string, withinMs = SOON_MS): Step => ({ do: 'act', name, withinMs });
export const close: Step = { do: 'close' };
export const verdict: Step = { do: 'verdict' };

/** A read of a number, the value of the flags that most scenarios change. Without `withinMs` the first answer counts. */
export const readNumber = (key: string, value: number, withinMs?: number): Step => ({
  do: 'read',
  ...numberRead(key, value),
  ...(withinMs !== undefined && { withinMs }),
});

/** The same, as it must stay for a while. */
export const steadyNumber = (key: string, value: number, forMs: number): Step => ({
  do: 'steady',
  read: numberRead(key, value),
  forMs,
});

/** A read whose first answer counts. */
export const read = (
  key: string,
  type: ReadStep['type'],
  fallback: unknown,
  expect: ReadStep['expect'],
  targetingKey?: string,
): Step => ({
  do: 'read',
  key,
  type,
  default: fallback,
  expect,
  ...(targetingKey !== undefined && { targetingKey }),
});

/** A read of a flag that the map must not have. */
export const readMissing = (key: string): Step =>
  read(key, 'integer', -1, { value: -1, errorCode: 'FLAG_NOT_FOUND' });

/** A read of a number with its reason, as it must stay for a while. */
export const steadyReason = (key: string, value: number, reason: string, forMs: number): Step => ({
  do: 'steady',
  read: { ...numberRead(key, value), expect: { value, reason } },
  forMs,
});

/** A state that is on and has a value. */
export const on = (value: unknown) => ({ enabled: true, value });

/** Ten thousand flags, several megabytes as a map. The value of each begins with its number. */
export function manyFlags(): Flags {
  const flags = Array.from({ length: 10_000 }, (_, at) => [`flag-${at}`, on(`${at} ${'x'.repeat(300)}`)]);
  return Object.fromEntries(flags);
}

function numberRead(key: string, value: number): ReadStep {
  return { key, type: 'integer', default: -1, expect: { value } };
}
